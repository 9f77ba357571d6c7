import type { Pool, RowDataPacket } from 'mysql2/promise';
import { createLatencies, type Latencies } from '../latencies.ts';

export interface Lateness extends Latencies {
  /** Orders closed before their deadline. */
  readonly early: number;
}

/** From deadline to close, both by the database clock, over all closed orders. */
export async function readLateness(mysql: Pool, activityId: number): Promise<Lateness> {
  const [rows] = await mysql.query<RowDataPacket[]>(
    `SELECT TIMESTAMPDIFF(MICROSECOND, expires_at, closed_at) DIV 1000 AS ms, COUNT(*) AS n FROM orders
     WHERE activity_id = ? AND status = 'TIMEOUT_CLOSED' GROUP BY ms`,
    [activityId],
  );
  const histogram = createLatencies();
  let early = 0;
  for (const { ms, n } of rows) {
    if (Number(ms) < 0) early += Number(n);
    else histogram.record(Number(ms), Number(n));
  }
  return { ...histogram.read(), early };
}
