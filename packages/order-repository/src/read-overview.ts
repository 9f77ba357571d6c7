import type { OrderStatus } from '@lapse/contracts';
import type { Database } from './database.ts';
import type { OrderCounts, Overview } from './overview.ts';
import { readWorkToDo } from './read-work-to-do.ts';
import type { Session } from './session.ts';
import { withRetriedSession } from './transaction.ts';

const dueWithinMs = [60_000, 300_000, 900_000] as const;

/**
 * What waits now. Reads ranges of indexes that hold what is unfinished and nothing else, so it costs the same however
 * many orders there ever were: for one look a second. Piece by piece, not of one instant.
 */
export async function readOverview(database: Database): Promise<Overview> {
  const work = await readWorkToDo(database);
  return withRetriedSession(database, async (session) => ({
    ...work,
    ...(await readPending(session)),
    shopEvents: await readShopEvents(session),
  }));
}

/**
 * Count the orders of each status; of those in the archive the paid ones. Reads one index whole, so seldom, where there
 * are many orders.
 */
export async function countOrders(database: Database): Promise<OrderCounts> {
  const rows = await withRetriedSession(database, (session) =>
    session.rows<{ status: OrderStatus; total: number }>(
      'SELECT status, COUNT(*) AS total FROM orders FORCE INDEX (orders_overdue) GROUP BY status',
    ),
  );
  const [archived] = await withRetriedSession(database, (session) =>
    session.rows<{ paid: number | string }>(
      'SELECT COALESCE(SUM(sold_archived_orders), 0) AS paid FROM activity',
    ),
  );
  const none = { PENDING: 0, PAID: 0, TIMEOUT_CLOSED: 0, CANCELLED: 0, ABORTED: 0 };
  const counts = { ...none, ...Object.fromEntries(rows.map(({ status, total }) => [status, total])) };
  return { ...counts, PAID: counts.PAID + Number(archived?.paid ?? 0) };
}

async function readPending(session: Session): Promise<Pick<Overview, 'pending' | 'overdue' | 'due'>> {
  const until = dueWithinMs.map(
    (ms, index) =>
      `SUM(expires_at > NOW(3) AND expires_at <= NOW(3) + INTERVAL ${ms * 1_000} MICROSECOND) AS due${index}`,
  );
  const [row] = await session.rows<Record<string, number | string | null>>(
    `SELECT COUNT(*) AS pending, SUM(expires_at <= NOW(3)) AS overdue, ${until.join(', ')}
     FROM orders FORCE INDEX (orders_overdue) WHERE status = 'PENDING'`,
  );
  const of = (name: string): number => Number(row?.[name] ?? 0);
  const due = dueWithinMs.map((withinMs, index) => ({ withinMs, orders: of(`due${index}`) }));
  return { pending: of('pending'), overdue: of('overdue'), due };
}

async function readShopEvents(session: Session): Promise<Overview['shopEvents']> {
  const rows = await session.rows<{ state: string; total: number }>(
    `SELECT state, COUNT(*) AS total FROM shop_event
     WHERE state IN ('HELD', 'WAITING', 'PARKED') GROUP BY state`,
  );
  const of = (state: string): number => rows.find((row) => row.state === state)?.total ?? 0;
  return { waiting: of('HELD') + of('WAITING'), givenUp: of('PARKED') };
}
