import { type OrderStatus, orderStatuses } from '@lapse/contracts';
import type { MysqlSnapshot } from './mysql-snapshot.ts';
import type { ActivityFilter } from './rule.ts';
import type { Lateness, OracleCounts, Parked } from './verdict.ts';

interface Counted {
  readonly name: string;
  readonly total: number;
}

/** What there is, for the report: a verdict on an empty database says nothing, and should be seen to. */
export async function readCounts(mysql: MysqlSnapshot, only: ActivityFilter): Promise<OracleCounts> {
  const [activity] = await mysql.rows<
    Record<'activities' | 'capacity' | 'available' | 'soldOrders' | 'soldUnits', number>
  >(
    `SELECT COUNT(*) AS activities, COALESCE(SUM(a.capacity), 0) AS capacity,
       COALESCE(SUM(a.available), 0) AS available, COALESCE(SUM(a.sold_archived_orders), 0) AS soldOrders,
       COALESCE(SUM(a.sold_archived_units), 0) AS soldUnits FROM activity a WHERE ${only('a.id')}`,
  );
  const statuses = await mysql.rows<{ status: OrderStatus; total: number; units: number }>(
    `SELECT o.status, COUNT(*) AS total, SUM(o.quantity) AS units FROM orders o
     WHERE ${only('o.activity_id')} GROUP BY o.status`,
  );
  const [credit] = await mysql.rows<{ units: number }>(
    `SELECT (SELECT COALESCE(SUM(t.credit), 0) FROM order_transition t WHERE ${only('t.activity_id')})
       + (SELECT COALESCE(SUM(a.credit), 0) FROM order_archive a WHERE ${only('a.activity_id')}) AS units`,
  );
  const payments = await mysql.rows<Counted>(
    `SELECT p.state AS name, COUNT(*) AS total FROM payment p JOIN orders o ON o.id = p.order_id
     WHERE ${only('o.activity_id')} GROUP BY p.state`,
  );
  const notices = await mysql.rows<Counted>(
    `SELECT CONCAT(n.stage, ' ', n.state) AS name, COUNT(*) AS total
     FROM notification n JOIN orders o ON o.id = n.order_id
     WHERE ${only('o.activity_id')} GROUP BY n.stage, n.state`,
  );
  const parked = byName(
    await mysql.rows<Counted>(
      `SELECT p.kind AS name, COUNT(*) AS total FROM parked p LEFT JOIN orders o ON o.id = p.order_id
       WHERE p.state = 'PARKED' AND (p.kind <> 'order' OR ${only('o.activity_id')}) GROUP BY p.kind`,
    ),
  );
  const unitsOf = (wanted: OrderStatus): number =>
    statuses.find(({ status }) => status === wanted)?.units ?? 0;
  const orders = Object.fromEntries(
    orderStatuses.map((wanted) => [wanted, statuses.find(({ status }) => status === wanted)?.total ?? 0]),
  ) as Record<OrderStatus, number>;
  orders.PAID += activity?.soldOrders ?? 0;
  const notifications = byName(notices);
  return {
    activities: activity?.activities ?? 0,
    orders,
    units: {
      capacity: activity?.capacity ?? 0,
      available: activity?.available ?? 0,
      pending: unitsOf('PENDING'),
      paid: unitsOf('PAID') + (activity?.soldUnits ?? 0),
      credited: credit?.units ?? 0,
    },
    payments: byName(payments),
    notifications,
    parked: {
      orders: parked.order ?? 0,
      messages: parked.message ?? 0,
      deadLetters: parked.dead_letter ?? 0,
      notifications: (notifications['REMINDER PARKED'] ?? 0) + (notifications['CLOSED PARKED'] ?? 0),
    },
  };
}

const parkedMax = 20;

/** What waits for a person, newest first. A message whose orders are unknown belongs to every activity. */
export async function readParked(mysql: MysqlSnapshot, only: ActivityFilter): Promise<Parked[]> {
  return await mysql.rows<Parked>(
    `SELECT p.kind, CONVERT(p.ref USING utf8mb4) AS ref, p.reason
     FROM parked p LEFT JOIN orders o ON o.id = p.order_id
     WHERE p.state = 'PARKED' AND (p.kind <> 'order' OR ${only('o.activity_id')})
     ORDER BY p.id DESC LIMIT ${parkedMax}`,
  );
}

function byName(rows: readonly Counted[]): Record<string, number> {
  return Object.fromEntries(rows.map(({ name, total }) => [name, total]));
}

/** Lateness by the clock of the database, which wrote both times. Percentiles by the nearest rank. */
export async function readLateness(mysql: MysqlSnapshot, only: ActivityFilter): Promise<Lateness> {
  const [row] = await mysql.rows<Record<keyof Lateness, number | null>>(`
    SELECT COUNT(*) AS count, SUM(late < 0) AS early, MAX(late) AS max,
      MIN(CASE WHEN place >= total * 0.5 THEN late END) AS p50,
      MIN(CASE WHEN place >= total * 0.99 THEN late END) AS p99
    FROM (
      SELECT TIMESTAMPDIFF(MICROSECOND, o.expires_at, t.at) / 1000 AS late,
        ROW_NUMBER() OVER (ORDER BY TIMESTAMPDIFF(MICROSECOND, o.expires_at, t.at)) AS place,
        COUNT(*) OVER () AS total
      FROM order_transition t JOIN orders o ON o.id = t.order_id
      WHERE t.to_status = 'TIMEOUT_CLOSED' AND ${only('o.activity_id')}) AS closes`);
  return {
    count: row?.count ?? 0,
    p50: row?.p50 ?? 0,
    p99: row?.p99 ?? 0,
    max: row?.max ?? 0,
    early: row?.early ?? 0,
  };
}
