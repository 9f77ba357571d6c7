import type { Pool, RowDataPacket } from 'mysql2/promise';
import { createLatencies, type Latencies } from '../latencies.ts';
import type { SaleActivity } from '../sale.ts';

export interface Lateness extends Latencies {
  /** Orders that were done before they were due. */
  readonly early: number;
}

/** From what time to what time, in which rows: names of columns, and of a table with the orders in it. */
export interface LatenessOf {
  readonly due: string;
  readonly done: string;
  readonly rows: string;
}

/** Orders that are due within this time, its end excluded: ms since 1970 by the database clock. */
export interface DueWithin {
  readonly fromMs: number;
  readonly toMs: number;
}

const always: DueWithin = { fromMs: 0, toMs: Date.UTC(9999) };
export const closeLateness: LatenessOf = { due: 'expires_at', done: 'closed_at', rows: 'orders' };

/** How late each order of these activities was done, both times by the database clock. Those undone are left out. */
export async function readLateness(
  mysql: Pool,
  activities: readonly SaleActivity[],
  { due, done, rows: table }: LatenessOf = closeLateness,
  { fromMs, toMs }: DueWithin = always,
): Promise<Lateness> {
  const [rows] = await mysql.query<RowDataPacket[]>(
    `SELECT TIMESTAMPDIFF(MICROSECOND, ${due}, ${done}) DIV 1000 AS ms, COUNT(*) AS n FROM ${table}
     WHERE activity_id IN (?) AND ${done} IS NOT NULL AND ${due} >= ? AND ${due} < ? GROUP BY ms`,
    [activities.map(({ id }) => id), new Date(fromMs), new Date(toMs)],
  );
  const histogram = createLatencies();
  let early = 0;
  for (const { ms, n } of rows) {
    if (Number(ms) < 0) early += Number(n);
    else histogram.record(Number(ms), Number(n));
  }
  return { ...histogram.read(), early };
}
