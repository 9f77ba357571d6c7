import type { OrderStatus } from '@lapse/contracts';
import { idFromBytes, sortedIdBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import { withRetriedSession } from './transaction.ts';

/** The status of each of these orders (at most 2,000) that is written; it locks nothing and may be old at once. */
export async function readStatuses(
  database: Database,
  ids: readonly string[],
): Promise<Map<string, OrderStatus>> {
  if (ids.length === 0) return new Map();
  const rows = await withRetriedSession(database, (session) =>
    session.rows<{ id: Buffer; status: OrderStatus }>(
      'SELECT id, status FROM orders FORCE INDEX (PRIMARY) WHERE id IN (?)',
      [sortedIdBytes(ids)],
    ),
  );
  return new Map(rows.map(({ id, status }) => [idFromBytes(id), status]));
}
