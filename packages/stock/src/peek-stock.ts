import { readHead } from './read-holds.ts';
import type { RedisClient } from './redis-client.ts';

/** What three numbers say of an activity's stock, however many hold in it. */
export interface StockPeek {
  readonly free: number;
  /** With an active order. */
  readonly users: number;
  readonly generation: number;
}

/** One round trip; null when the activity is not loaded. For a look a second, where the audit would read every hold. */
export async function peekStock(client: RedisClient, activityId: number): Promise<StockPeek | null> {
  const head = await readHead(client, activityId);
  return head && { free: head.stock, users: head.users, generation: head.generation };
}
