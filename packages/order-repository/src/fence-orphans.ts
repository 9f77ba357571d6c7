import { idFromBytes, idToBytes, sortedIdBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import type { FenceResult, OrphanHold } from './order-repository.ts';
import type { Session } from './session.ts';
import { inTransaction } from './transaction.ts';
import { userToBytes } from './user-bytes.ts';

/** Most holds of one call. */
const fenceBatchMax = 1_000;

/**
 * Make sure that holds without an order never get one: insert their ids as ABORTED first. A create that is
 * under way either committed before (the order is not among the `fenced`), or finds the fence and is refused. Only then
 * may the holds be released. Idempotent: what is fenced already is `fenced` again.
 */
export async function fenceOrphans(database: Database, holds: readonly OrphanHold[]): Promise<FenceResult> {
  if (holds.length > fenceBatchMax)
    throw new RangeError(`${holds.length} holds in one call; at most ${fenceBatchMax}`);
  if (holds.length === 0) return { fenced: [] };
  const ids = sortedIdBytes(holds.map(({ orderId }) => orderId));
  return inTransaction(
    database,
    (session) => fenceOnce(session, holds, ids),
    ({ fenced }) =>
      fenced[0] === undefined
        ? null
        : { sql: 'SELECT 1 FROM orders WHERE id = ?', values: [idToBytes(fenced[0])] },
  );
}

async function fenceOnce(
  session: Session,
  holds: readonly OrphanHold[],
  ids: readonly Buffer[],
): Promise<FenceResult> {
  const [clock] = await session.rows<{ at: Date }>('SELECT NOW(3) AS at');
  const noRequest = Buffer.alloc(32);
  await session.run(
    `INSERT INTO orders (id, activity_id, user_id, quantity, amount_minor, currency, locale, status, version,
       created_at, remind_at, expires_at, closed_at, request_hash)
     VALUES ? ON DUPLICATE KEY UPDATE id = orders.id`,
    [
      // In the order of their ids, as everybody locks orders: two sweepers find the same holds.
      holds
        .toSorted(byId)
        .map(({ orderId, activityId, userId, quantity }) => [
          ...[idToBytes(orderId), activityId, userToBytes(userId), quantity, 0, '', '', 'ABORTED', 1],
          ...[clock?.at, clock?.at, clock?.at, clock?.at, noRequest],
        ]),
    ],
  );
  await session.run(
    `INSERT INTO order_transition (order_id, version, activity_id, to_status, cause, at, credit)
     SELECT id, version, activity_id, status, 'sweep', closed_at, 0
     FROM orders FORCE INDEX (PRIMARY) WHERE id IN (?) AND status = 'ABORTED'
     ON DUPLICATE KEY UPDATE order_id = order_transition.order_id`,
    [ids],
  );
  const rows = await session.rows<{ id: Buffer }>(
    "SELECT id FROM orders FORCE INDEX (PRIMARY) WHERE id IN (?) AND status = 'ABORTED' ORDER BY id",
    [ids],
  );
  return { fenced: rows.map(({ id }) => idFromBytes(id)) };
}

function byId(a: OrphanHold, b: OrphanHold): number {
  return a.orderId < b.orderId ? -1 : 1;
}
