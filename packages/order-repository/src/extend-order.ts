import type { Phase } from '@lapse/contracts';
import { attemptIsOpen } from './attempt-row.ts';
import { idToBytes, newId } from './binary-id.ts';
import type { Database } from './database.ts';
import { InvariantError } from './errors.ts';
import type { ExtendedOrder, ExtendRefusal, Extension } from './extend-result.ts';
import { insertOutboxRow } from './insert-outbox-row.ts';
import { judgeExtension } from './judge-extension.ts';
import { type Changed, changeByOperator } from './operator-change.ts';
import type { OperatorRequest, OperatorResult, StoredAnswer } from './operator-result.ts';
import { type OrderRow, orderColumns, toOrder } from './order-row.ts';
import { readArchivedOrder } from './read-archived-order.ts';
import type { Session } from './session.ts';

interface ExtendRow extends OrderRow {
  readonly settle_until: Date | null;
  readonly now: Date;
}

/**
 * Move the deadline of a pending order to a later time, with everything that hangs on it: the reminder where it
 * is still to come, the time at which an open payment is settled, and the message that brings the order back.
 * The lock on the order's row decides between this and a close, a payment or a cancel: one of them wins, and the
 * other sees what it left. An order past its deadline that nobody has closed yet can still be extended.
 *
 * Messages sent before are not recalled: the order is not due when they come, and their worker puts it off. What
 * the buyer was answered at first is kept for the repeat of that request.
 */
export function extendOrder(
  database: Database,
  id: string,
  extension: Extension,
  request: OperatorRequest,
  answer: (result: ExtendedOrder) => StoredAnswer,
): Promise<OperatorResult<ExtendedOrder, ExtendRefusal>> {
  return changeByOperator(database, request, {
    change: (session) => extendOnce(session, idToBytes(id), extension),
    answer,
  });
}

async function extendOnce(
  session: Session,
  id: Buffer,
  extension: Extension,
): Promise<Changed<ExtendedOrder, ExtendRefusal>> {
  const [row] = await session.rows<ExtendRow>(
    `SELECT ${orderColumns}, settle_until, NOW(3) AS now FROM orders WHERE id = ? FOR UPDATE`,
    [id],
  );
  if (row === undefined) {
    const order = await readArchivedOrder(session, id);
    return { kind: 'refused', result: order ? { kind: 'not_pending', order } : { kind: 'not_found' } };
  }
  const judged = judgeExtension(toOrder(row), extension, row.now.getTime());
  if (judged.kind !== 'may') return { kind: 'refused', result: judged };

  const result = await moveDeadline(session, row, judged.expiresAt.getTime() - row.expires_at.getTime());
  return {
    kind: 'done',
    result,
    actions: [
      {
        action: 'order.extend',
        targetKind: 'order',
        target: result.order.id,
        detail: { from: row.expires_at, to: result.order.expiresAt },
      },
    ],
  };
}

async function moveDeadline(session: Session, row: ExtendRow, byMs: number): Promise<ExtendedOrder> {
  const moved = (time: Date): Date => new Date(time.getTime() + byMs);
  const phase: Phase = row.reminded_at === null ? 1 : 2;
  const order = toOrder({
    ...row,
    first_remind_at: row.first_remind_at ?? row.remind_at,
    first_expires_at: row.first_expires_at ?? row.expires_at,
    remind_at: phase === 1 ? moved(row.remind_at) : row.remind_at,
    expires_at: moved(row.expires_at),
  });
  const outboxId = newId();
  const { affectedRows } = await session.run(
    `UPDATE orders SET remind_at = ?, expires_at = ?, settle_until = ?, first_remind_at = ?, first_expires_at = ?,
       ${phase === 1 ? 'reminder_outbox_id' : 'close_outbox_id'} = ?
     WHERE id = ? AND status = 'PENDING'`,
    [
      ...[order.remindAt, order.expiresAt, row.settle_until && moved(row.settle_until)],
      ...[order.firstRemindAt, order.firstExpiresAt, idToBytes(outboxId), row.id],
    ],
  );
  if (affectedRows !== 1) throw new InvariantError('a locked pending order could not be extended');
  await session.run(
    `UPDATE payment_attempt SET settle_at = settle_at + INTERVAL ? MICROSECOND
     WHERE order_id = ? AND ${attemptIsOpen}`,
    [byMs * 1_000, row.id],
  );
  const outbox = await insertOutboxRow(session, outboxId, phase, [
    {
      orderId: order.id,
      activityId: order.activityId,
      userId: order.userId,
      createTime: order.createdAt.getTime(),
      dueTime: (phase === 1 ? order.remindAt : order.expiresAt).getTime(),
    },
  ]);
  return { order, outbox };
}
