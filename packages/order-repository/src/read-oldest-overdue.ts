import { idToBytes } from './binary-id.ts';
import { notSettling } from './close-batch.ts';
import type { Database } from './database.ts';
import { readParkedIds } from './read-parked-ids.ts';
import { withRetriedSession } from './transaction.ts';

/**
 * How long past its deadline the oldest order is that nothing keeps from closing: parked ones and those being paid are
 * passed over. 0 where there is none. By the index of deadlines, one row, unless many are being paid past their deadline.
 */
export function readOldestOverdue(database: Database): Promise<{ oldestMs: number }> {
  return withRetriedSession(database, async (session) => {
    const parked = [...(await readParkedIds(session, 2))].map(idToBytes);
    const [row] = await session.rows<{ late_us: number }>(
      `SELECT TIMESTAMPDIFF(MICROSECOND, expires_at, NOW(3)) AS late_us
       FROM orders FORCE INDEX (orders_overdue)
       WHERE status = 'PENDING' AND expires_at <= NOW(3) AND ${notSettling}
       ${parked.length > 0 ? 'AND id NOT IN (?)' : ''}
       ORDER BY expires_at, id LIMIT 1`,
      parked.length > 0 ? [parked] : [],
    );
    return { oldestMs: Math.max(0, Math.floor(Number(row?.late_us ?? 0) / 1_000)) };
  });
}
