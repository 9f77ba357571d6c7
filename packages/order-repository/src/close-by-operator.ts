import { idToBytes } from './binary-id.ts';
import { closeLocked, type DueRow } from './close-batch.ts';
import type { Database } from './database.ts';
import { InvariantError } from './errors.ts';
import { type Changed, changeByOperator } from './operator-change.ts';
import type { OperatorRequest, OperatorResult, StoredAnswer } from './operator-result.ts';
import type { ClosedByOperator, CloseRefusal } from './order-repository.ts';
import { type OrderRow, orderColumns, toOrder } from './order-row.ts';
import { readArchivedOrder } from './read-archived-order.ts';
import type { Session } from './session.ts';
import { userToBytes } from './user-bytes.ts';

interface CloseRow extends DueRow, OrderRow {
  readonly settling_us: number | null;
}

/**
 * Close one order that is past its deadline, by an operator's hand: what its message or the sweep would do, noted with
 * who did it and why in the same transaction. It waits for a close, a payment or a cancel that has the order, and
 * loses to it. Never closes early: MySQL's clock says whether the order is due. One that is being paid is refused
 * until its payment is settled or its grace has passed.
 */
export function closeByOperator(
  database: Database,
  id: string,
  request: OperatorRequest,
  answer: (result: ClosedByOperator) => StoredAnswer,
): Promise<OperatorResult<ClosedByOperator, CloseRefusal>> {
  return changeByOperator(database, request, {
    change: (session) => closeOnce(session, idToBytes(id), request.actor),
    answer,
  });
}

async function closeOnce(
  session: Session,
  id: Buffer,
  actor: string,
): Promise<Changed<ClosedByOperator, CloseRefusal>> {
  const [row] = await session.rows<CloseRow>(
    `SELECT ${orderColumns}, TIMESTAMPDIFF(MICROSECOND, expires_at, NOW(3)) AS late_us,
       TIMESTAMPDIFF(MICROSECOND, NOW(3), settle_until) AS settling_us
     FROM orders WHERE id = ? FOR UPDATE`,
    [id],
  );
  if (row === undefined) {
    const order = await readArchivedOrder(session, id);
    return { kind: 'refused', result: order ? { kind: 'not_pending', order } : { kind: 'not_found' } };
  }
  const order = toOrder(row);
  if (order.status !== 'PENDING') return { kind: 'refused', result: { kind: 'not_pending', order } };
  if (row.late_us < 0) {
    return { kind: 'refused', result: { kind: 'not_due', order, dueInMs: Math.ceil(-row.late_us / 1_000) } };
  }
  const settlingUs = row.settling_us ?? 0;
  if (settlingUs > 0) {
    return { kind: 'refused', result: { kind: 'settling', order, forMs: Math.ceil(settlingUs / 1_000) } };
  }
  const { closed, effects } = await closeLocked(session, [row], {
    toStatus: 'TIMEOUT_CLOSED',
    cause: 'operator',
    actor: userToBytes(actor),
  });
  const [one] = closed;
  const [effect] = effects;
  if (one === undefined || effect === undefined) throw new InvariantError('a closed order released nothing');
  const [after] = await session.rows<OrderRow>(`SELECT ${orderColumns} FROM orders WHERE id = ?`, [id]);
  if (after === undefined) throw new InvariantError('a locked order is not there');
  const { latenessMs } = one;
  return {
    kind: 'done',
    result: { order: toOrder(after), effect, latenessMs },
    actions: [{ action: 'order.close', targetKind: 'order', target: order.id, detail: { latenessMs } }],
  };
}
