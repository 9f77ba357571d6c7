import { queryDatabase } from '@lapse/testing';

/** One order that closed by timeout; times in ms since 1970, by the clock of MySQL. */
export interface Close {
  readonly deadline: number;
  readonly closedAt: number;
  /** By its message; otherwise by the sweep. */
  readonly byMessage: boolean;
}

export interface Closes {
  readonly closes: readonly Close[];
  /** Still open though their deadline has passed by more than is on time. */
  readonly overdue: number;
}

/** An order that closes later than this after its deadline is late. */
export const onTimeMs = 250;

const ms = (column: string): string => `CAST(ROUND(UNIX_TIMESTAMP(${column}) * 1000) AS DOUBLE)`;

/** Orders with a deadline from `sinceMs` on. */
export async function readCloses(mysqlUrl: string, sinceMs: number): Promise<Closes> {
  const since = new Date(sinceMs);
  const rows = (await queryDatabase(
    mysqlUrl,
    `SELECT ${ms('o.expires_at')} AS deadline, ${ms('t.at')} AS closedAt, t.cause = 'message' AS byMessage
     FROM orders o JOIN order_transition t ON t.order_id = o.id AND t.to_status = 'TIMEOUT_CLOSED'
     WHERE o.status = 'TIMEOUT_CLOSED' AND o.expires_at >= ?`,
    [since],
  )) as unknown as { deadline: number; closedAt: number; byMessage: number }[];
  const [open] = await queryDatabase(
    mysqlUrl,
    `SELECT COUNT(*) AS n FROM orders
     WHERE status = 'PENDING' AND expires_at < NOW(3) - INTERVAL ${onTimeMs * 1_000} MICROSECOND`,
  );
  return {
    closes: rows.map(({ byMessage, ...times }) => ({ ...times, byMessage: byMessage === 1 })),
    overdue: Number(open?.n),
  };
}
