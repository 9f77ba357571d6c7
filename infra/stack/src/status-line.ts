import type { Closable } from '@lapse/runtime';
import { sleep } from '@lapse/runtime';
import { queryDatabase } from '@lapse/testing';
import type { Printer } from './print.ts';

export interface OrderCounts {
  readonly pending: number;
  /** Of the pending ones. */
  readonly reminded: number;
  readonly paid: number;
  readonly closed: number;
  readonly cancelled: number;
}

const everyMs = 1_000;

/** Keep the living line up to date from MySQL until closed. A database that is away is said, not thrown. */
export function showStatus(mysqlUrl: string, print: Printer): Closable {
  const stop = new AbortController();
  const loop = (async () => {
    while (!stop.signal.aborted) {
      const text = await readCounts(mysqlUrl).then(statusText, () => 'MySQL does not answer');
      if (!stop.signal.aborted) print.status(text);
      await sleep(everyMs, stop.signal);
    }
  })();
  return {
    close: async () => {
      stop.abort();
      await loop;
    },
  };
}

export function statusText({ pending, reminded, paid, closed, cancelled }: OrderCounts): string {
  const pendingText = `${pending} pending${reminded > 0 ? ` (${reminded} reminded)` : ''}`;
  return `orders: ${pendingText}, ${paid} paid, ${closed} closed, ${cancelled} cancelled`;
}

async function readCounts(mysqlUrl: string): Promise<OrderCounts> {
  const [row = {}] = await queryDatabase(
    mysqlUrl,
    `SELECT
       (SELECT COUNT(*) FROM orders WHERE status = 'PENDING') AS pending,
       (SELECT COUNT(*) FROM orders WHERE status = 'PENDING' AND reminded_at IS NOT NULL) AS reminded,
       (SELECT COUNT(*) FROM orders WHERE status = 'PAID')
         + (SELECT COALESCE(SUM(sold_archived_orders), 0) FROM activity) AS paid,
       (SELECT COUNT(*) FROM orders WHERE status = 'TIMEOUT_CLOSED') AS closed,
       (SELECT COUNT(*) FROM orders WHERE status = 'CANCELLED') AS cancelled`,
  );
  return {
    pending: Number(row.pending),
    reminded: Number(row.reminded),
    paid: Number(row.paid),
    closed: Number(row.closed),
    cancelled: Number(row.cancelled),
  };
}
