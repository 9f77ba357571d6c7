import type { ActivityCounts } from './audit.ts';
import type { Database } from './database.ts';
import { withRetriedSession } from './transaction.ts';

interface CountsRow {
  readonly capacity: number;
  readonly capacity_version: number;
  readonly available: number;
  readonly generation: number;
  readonly stock_run_id: string | null;
  readonly pending_units: string | number;
  readonly pending_orders: string | number;
  readonly paid_units: string | number;
  readonly paid_orders: string | number;
}

/**
 * Count an activity's active orders and read its row in one statement, so at one instant; null when there is no such
 * activity. What went to the archive counts as paid. Locks nothing. Reads every active order: 0.1 s for 100,000.
 */
export async function readActivityCounts(
  database: Database,
  activityId: number,
): Promise<ActivityCounts | null> {
  const [row] = await withRetriedSession(database, (session) =>
    session.rows<CountsRow>(
      `SELECT a.capacity, a.capacity_version, a.available, a.generation, a.stock_run_id,
         COALESCE(SUM(IF(o.status = 'PENDING', o.quantity, 0)), 0) AS pending_units,
         COALESCE(SUM(o.status = 'PENDING'), 0) AS pending_orders,
         a.sold_archived_units + COALESCE(SUM(IF(o.status = 'PAID', o.quantity, 0)), 0) AS paid_units,
         a.sold_archived_orders + COALESCE(SUM(o.status = 'PAID'), 0) AS paid_orders
       FROM activity a
       LEFT JOIN orders o FORCE INDEX (orders_active_user)
         ON o.activity_id = a.id AND o.active_user IS NOT NULL
       WHERE a.id = ?
       GROUP BY a.id`,
      [activityId],
    ),
  );
  if (row === undefined) return null;
  return {
    capacity: row.capacity,
    capacityVersion: row.capacity_version,
    available: row.available,
    generation: row.generation,
    stockRunId: row.stock_run_id,
    pending: { units: Number(row.pending_units), orders: Number(row.pending_orders) },
    paid: { units: Number(row.paid_units), orders: Number(row.paid_orders) },
  };
}
