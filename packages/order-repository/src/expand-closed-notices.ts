import { idToBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import { expandEffects } from './expand-effects.ts';
import type { RepositoryLog } from './order-repository.ts';
import type { Session } from './session.ts';

/**
 * Turn "these orders closed" into one notice per order. Kept out of the closing transaction, which stock
 * waits for. What `expandEffects` guarantees holds here.
 * @returns how many closed batches were done; 0: none is left that is free.
 */
export function expandClosedNotices(database: Database, log: RepositoryLog, limit: number): Promise<number> {
  return expandEffects(database, log, { kind: 'closed_notice', limit }, insertNotices);
}

async function insertNotices(session: Session, orderIds: readonly string[]): Promise<void> {
  const [clock] = await session.rows<{ at: Date }>('SELECT NOW(3) AS at');
  await session.run(
    `INSERT INTO notification (order_id, stage, next_attempt_at, created_at) VALUES ?
     ON DUPLICATE KEY UPDATE id = notification.id`,
    [orderIds.map((id) => [idToBytes(id), 'CLOSED', clock?.at, clock?.at])],
  );
}
