import { idFromBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import { movedLongAgo } from './payment-is-old.ts';
import type { ForgetPaymentsOptions, ForgottenPayments, SettledState } from './retention.ts';
import type { Session } from './session.ts';
import { withRetriedSession } from './transaction.ts';

/** In the order of a walk. */
const states: readonly SettledState[] = ['REFUNDED', 'DISMISSED', 'FAILED'];

interface OldRow {
  readonly id: number;
  readonly order_id: Buffer;
  readonly received_at: Date;
}

/**
 * Delete payments of nobody: they never had an order, or the archive has let go of it, and it is so long ago that their
 * money moved for the last time (see `movedLongAgo`), or that a person dismissed them. Until then a repeat of the provider
 * is a duplicate, and a refund that fails late is heard.
 *
 * One call reads one page of one state, oldest first, and goes on behind it in the next: those of orders that stay are
 * read once a walk, however many they are. Each state is asked once more by the delete. Idempotent; any number of
 * sweepers at once.
 */
export async function forgetPayments(
  database: Database,
  { olderThanMs, limit, after }: ForgetPaymentsOptions,
): Promise<ForgottenPayments> {
  const olderThanUs = olderThanMs * 1_000;
  const state = after?.state ?? 'REFUNDED';
  const behind = after?.receivedAt && 'AND received_at >= ? AND (received_at > ? OR id > ?)';
  return withRetriedSession(database, async (session) => {
    const rows = await session.rows<OldRow>(
      `SELECT id, order_id, received_at FROM payment FORCE INDEX (payment_state)
       WHERE state = ? AND received_at <= NOW(3) - INTERVAL ? MICROSECOND ${behind ?? ''}
       ORDER BY received_at, id LIMIT ?`,
      [
        ...[state, olderThanUs],
        ...(after?.receivedAt ? [after.receivedAt, after.receivedAt, after.id] : []),
        limit,
      ],
    );
    const payments = await forgetOf(session, state, rows, olderThanUs);
    const last = rows.at(-1);
    if (last !== undefined && rows.length === limit) {
      return { payments, next: { state, receivedAt: last.received_at, id: last.id } };
    }
    const nextState = states[states.indexOf(state) + 1];
    return { payments, next: nextState ? { state: nextState, receivedAt: null, id: 0 } : null };
  });
}

async function forgetOf(
  session: Session,
  state: SettledState,
  rows: readonly OldRow[],
  olderThanUs: number,
): Promise<number> {
  if (rows.length === 0) return 0;
  const ids = [...new Set(rows.map(({ order_id }) => order_id.toString('hex')))].map((id) =>
    Buffer.from(id, 'hex'),
  );
  const kept = await session.rows<{ id: Buffer }>(
    `SELECT id FROM orders FORCE INDEX (PRIMARY) WHERE id IN (?)
     UNION ALL SELECT order_id FROM order_archive FORCE INDEX (PRIMARY) WHERE order_id IN (?)
     ${state === 'DISMISSED' ? `UNION ALL ${dismissedLately}` : ''}`,
    [ids, ids, ...(state === 'DISMISSED' ? [ids.map(idFromBytes), olderThanUs] : [])],
  );
  const keptIds = new Set(kept.map(({ id }) => id.toString('hex')));
  const nobodys = rows.filter(({ order_id }) => !keptIds.has(order_id.toString('hex')));
  if (nobodys.length === 0) return 0;
  const { affectedRows } = await session.run(
    `DELETE FROM payment WHERE id IN (?) AND state = ? AND ${movedLongAgo}`,
    [nobodys.map(({ id }) => id), state, olderThanUs],
  );
  return affectedRows;
}

/** The payment's row does not know when that was; what operators did is kept for a year at least. */
const dismissedLately = `SELECT UNHEX(REPLACE(target, '-', '')) FROM operator_action FORCE INDEX (operator_action_target)
  WHERE target_kind = 'order' AND target IN (?) AND action = 'payment.dismiss' AND at > NOW(3) - INTERVAL ? MICROSECOND`;
