import { encodeHistory } from './archive-history.ts';
import { idFromBytes, unpackIds } from './binary-id.ts';
import { whyOpen } from './order-is-over.ts';
import type { Session } from './session.ts';
import { readTimelineRows, type TimelineOrderRow, type TimelineRows } from './timeline-rows.ts';

/** Effects that are still undone and are looked through; of more, none may be known to be nobody's. */
const oldEffectsMax = 1_000;
/**
 * An order's effects are committed with its last step: so much later at most, whatever its transaction waited for. Only
 * that its money went back may be told long after.
 */
const effectSlackMs = 3_600_000;

/** What locks of others may keep from this transaction, though the lock of the order is its own. */
const lockedApart = ['notification', 'shop_event', 'payment_attempt', 'payment'] as const;
/**
 * Payments that were more than a failed try stay where they are until the archive lets go of their order: they are what
 * recognises a repeat of the provider, and a refund that fails late.
 */
const isDeleted: Readonly<Partial<Record<(typeof lockedApart)[number] | 'order_transition', string>>> = {
  payment: "state = 'FAILED'",
};

/**
 * Put those of these orders that are over in the archive, and delete them with their rows. In the caller's transaction,
 * under the locks of the orders; `whyOpen` says what keeps one.
 * @returns those that are archived now; null: so many old effects are undone that none is, until they are seen to.
 */
export async function archiveLocked(
  session: Session,
  orders: readonly TimelineOrderRow[],
  { olderThanMs }: { readonly olderThanMs: number },
): Promise<readonly TimelineOrderRow[] | null> {
  if (orders.length === 0) return [];
  // Before the rows that effects become: what is in neither has none, and gets none while its order is locked.
  const owed = await readOwed(session, olderThanMs);
  if (owed === 'too many') return null;
  const parked = await readParkedOrders(session, orders);
  const rows = await readTimelineRows(session, orders, 'FOR UPDATE SKIP LOCKED');
  const counts = await countApart(session, orders);
  const over = rows.filter(
    (each) =>
      whyOpen(each, { owed, parked }) === null && rowsApart(each) === (counts.get(keyOf(each.order.id)) ?? 0),
  );
  if (over.length > 0) await moveToArchive(session, over);
  return over.map(({ order }) => order);
}

/** The orders that effects are still to be done for: those of old commits, and those that tell of money gone back. */
async function readOwed(session: Session, olderThanMs: number): Promise<ReadonlySet<string> | 'too many'> {
  const oldUs = Math.max(0, olderThanMs - effectSlackMs) * 1_000;
  const effects = await session.rows<{ order_ids: Buffer }>(
    `(SELECT order_ids FROM effect WHERE created_at <= NOW(3) - INTERVAL ? MICROSECOND LIMIT ?)
     UNION ALL (SELECT order_ids FROM effect WHERE kind = 'shop_event' AND detail = 'refunded'
       AND created_at > NOW(3) - INTERVAL ? MICROSECOND LIMIT ?)`,
    [oldUs, oldEffectsMax + 1, oldUs, oldEffectsMax + 1],
  );
  if (effects.length > oldEffectsMax) return 'too many';
  return new Set(effects.flatMap(({ order_ids }) => unpackIds(order_ids)));
}

async function readParkedOrders(
  session: Session,
  orders: readonly TimelineOrderRow[],
): Promise<ReadonlySet<string>> {
  const rows = await session.rows<{ order_id: Buffer }>(
    "SELECT order_id FROM parked WHERE order_id IN (?) AND state = 'PARKED'",
    [orders.map(({ id }) => id)],
  );
  return new Set(rows.map(({ order_id }) => idFromBytes(order_id)));
}

/** How many rows each order has, whoever has locked them, in the tables that are locked apart. */
async function countApart(
  session: Session,
  orders: readonly TimelineOrderRow[],
): Promise<ReadonlyMap<string, number>> {
  const ids = orders.map(({ id }) => id);
  // Counted here: grouped by MySQL it took 50 ms a batch, not 5.
  const rows = await session.rows<{ order_id: Buffer }>(
    lockedApart.map((table) => `SELECT order_id FROM ${table} WHERE order_id IN (?)`).join(' UNION ALL '),
    lockedApart.map(() => ids),
  );
  const counts = new Map<string, number>();
  for (const { order_id } of rows) counts.set(keyOf(order_id), (counts.get(keyOf(order_id)) ?? 0) + 1);
  return counts;
}

function rowsApart({ notifications, shopEvents, attempts, payments }: TimelineRows): number {
  return notifications.length + shopEvents.length + attempts.length + payments.length;
}

function keyOf(id: Buffer): string {
  return id.toString('hex');
}

/** A hold that was fenced long after its order was archived has the order's own history already: that stays. */
async function moveToArchive(session: Session, over: readonly TimelineRows[]): Promise<void> {
  const [clock] = await session.rows<{ at: Date }>('SELECT NOW(3) AS at');
  await session.run(
    `INSERT INTO order_archive
       (order_id, activity_id, user_id, status, quantity, credit, debit, finished_at, archived_at, history)
     VALUES ? ON DUPLICATE KEY UPDATE order_id = order_archive.order_id`,
    [over.map((rows) => toValues(rows, clock?.at))],
  );
  const ids = over.map(({ order }) => order.id);
  for (const table of [...lockedApart, 'order_transition'] as const) {
    const only = isDeleted[table];
    await session.run(`DELETE FROM ${table} WHERE order_id IN (?) ${only ? `AND ${only}` : ''}`, [ids]);
  }
  await session.run('DELETE FROM orders WHERE id IN (?)', [ids]);
}

function toValues(rows: TimelineRows, archivedAt: Date | undefined): readonly unknown[] {
  const { order, transitions } = rows;
  const credit = transitions.reduce((sum, each) => sum + each.credit, 0);
  const debit = transitions.reduce((sum, each) => sum + each.debit, 0);
  return [
    ...[order.id, order.activity_id, order.user_id, order.status, order.quantity, credit, debit],
    ...[order.paid_at ?? order.closed_at, archivedAt, encodeHistory(rows)],
  ];
}
