import type { OrderStatus } from '@lapse/contracts';
import { idFromBytes, idToBytes, newId, packIds } from './binary-id.ts';
import type { Database } from './database.ts';
import { insertEffects } from './insert-effects.ts';
import { readFormerBuyers } from './read-former-buyers.ts';
import type { Session } from './session.ts';
import type { ActivitySnapshot, SnapshotHold } from './snapshot.ts';
import { inTransaction } from './transaction.ts';
import { userFromBytes } from './user-bytes.ts';

/** Orders read by one statement: some 20 ms, far from the longest time of a statement however large the sale is. */
const ordersPerPageMax = 5_000;
/**
 * How often MySQL hears of the transaction while Redis is loaded. A large load takes longer than the server bears with
 * a silent one (see database.ts), which would undo it each time, for ever.
 */
const awakeEveryMs = 2_000;

interface ActivityRow {
  readonly capacity: number;
  readonly capacity_version: number;
  readonly available: number;
  readonly generation: number;
  readonly stock_run_id: string | null;
}
interface ActiveRow {
  readonly id: Buffer;
  readonly user_id: Buffer;
  readonly quantity: number;
  readonly status: OrderStatus;
}

/**
 * Load an activity's stock into Redis from MySQL's truth: lock the activity, read its active orders
 * and the buyers of those that ended, let `apply` write Redis under the next generation, note that and the run id of the server that took it, commit. While the lock is held nothing can be created, closed or
 * cancelled in the activity, and a hold of an older generation is refused for ever after. `apply` must put
 * the generation in last, and may be called again when the transaction repeats.
 *
 * A payment needs no activity lock, so it may commit in between, and its confirm may reach the old keys.
 * Orders that became PAID since they were read are therefore confirmed once more, by an effect of this
 * transaction. Any later payment meets the new keys.
 *
 * Does nothing when there is no such activity, or it is archived: then Redis is to forget it. If the commit fails, Redis has a generation that MySQL has not
 * given out yet: it refuses to sell until the next rebuild, which gives out that number with a load of its own.
 */
export async function rebuildSnapshot(
  database: Database,
  activityId: number,
  apply: (snapshot: ActivitySnapshot) => Promise<string>,
): Promise<void> {
  await inTransaction(
    database,
    (session) => rebuildOnce(session, activityId, apply),
    (generation) =>
      generation === null
        ? null
        : {
            sql: 'SELECT 1 FROM activity WHERE id = ? AND generation >= ?',
            values: [activityId, generation],
          },
  );
}

async function rebuildOnce(
  session: Session,
  activityId: number,
  apply: (snapshot: ActivitySnapshot) => Promise<string>,
): Promise<number | null> {
  const [activity] = await session.rows<ActivityRow>(
    `SELECT capacity, capacity_version, available, generation, stock_run_id FROM activity
     WHERE id = ? AND archived_at IS NULL FOR UPDATE`,
    [activityId],
  );
  if (activity === undefined) return null;
  const generation = activity.generation + 1;
  const holds: SnapshotHold[] = [];
  for await (const page of readActive(session, activityId, { onlyPaid: false })) {
    for (const row of page) holds.push(toHold(row));
  }
  const formerBuyers = await readFormerBuyers(session, activityId);
  const runId = await whileAwake(session, () =>
    apply({
      activityId,
      generation,
      capacity: activity.capacity,
      capacityVersion: activity.capacity_version,
      available: activity.available,
      stockRunId: activity.stock_run_id,
      holds,
      formerBuyers,
    }),
  );
  await session.run('UPDATE activity SET generation = ?, stock_run_id = ? WHERE id = ?', [
    generation,
    runId,
    activityId,
  ]);
  await confirmAgain(session, activityId, holds);
  return generation;
}

/**
 * Every active order has its active_user, so the unique key is a list of them. In pages, which the lock of the activity
 * keeps together: meanwhile none comes or goes.
 */
async function* readActive(
  session: Session,
  activityId: number,
  { onlyPaid }: { readonly onlyPaid: boolean },
): AsyncGenerator<readonly ActiveRow[]> {
  // No user is empty, so the empty one comes before all.
  let after: Buffer = Buffer.alloc(0);
  for (;;) {
    const page: ActiveRow[] = await session.rows<ActiveRow>(
      `SELECT id, user_id, quantity, status FROM orders FORCE INDEX (orders_active_user)
       WHERE activity_id = ? AND active_user > ? ${onlyPaid ? "AND status = 'PAID'" : ''}
       ORDER BY active_user LIMIT ?`,
      [activityId, after, ordersPerPageMax],
    );
    yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < ordersPerPageMax) return;
    after = last.user_id;
  }
}

async function whileAwake<T>(session: Session, work: () => Promise<T>): Promise<T> {
  // A session that is lost shows itself by the next statement.
  const stir = setInterval(() => void session.rows('SELECT 1').catch(() => undefined), awakeEveryMs);
  try {
    return await work();
  } finally {
    clearInterval(stir);
  }
}

function toHold(row: ActiveRow): SnapshotHold {
  return {
    orderId: idFromBytes(row.id),
    userId: userFromBytes(row.user_id),
    quantity: row.quantity,
    state: row.status === 'PAID' ? 'sold' : 'held',
  };
}

async function confirmAgain(
  session: Session,
  activityId: number,
  holds: readonly SnapshotHold[],
): Promise<void> {
  const held = new Set(holds.filter(({ state }) => state === 'held').map(({ orderId }) => orderId));
  const paid: string[] = [];
  for await (const page of readActive(session, activityId, { onlyPaid: true })) {
    paid.push(...page.map(({ id }) => idFromBytes(id)).filter((id) => held.has(id)));
  }
  if (paid.length === 0) return;
  await insertEffects(session, {
    batchId: idToBytes(newId()),
    kind: 'confirm',
    idsByActivity: new Map([[activityId, packIds(paid)]]),
  });
}
