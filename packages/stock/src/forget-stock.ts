import type { RedisClient } from './redis-client.ts';
import { stockKeys } from './stock-keys.ts';

/**
 * Forget an activity: all its keys go at once, so that nobody sees half of them. Whoever asks for it afterwards is told
 * that it is not loaded, and a load that was on its way is refused, since the name of the one it replaces is gone. UNLINK
 * hands the keys to another thread: Redis is held up no longer by a million holds than by one. Idempotent.
 * @throws {StockUnavailableError} when the outcome is unknown: repeat it.
 */
export async function forgetStock({ ask }: RedisClient, activityId: number): Promise<void> {
  const keys = Object.values(stockKeys(activityId)) as string[];
  await ask(`forget activity ${activityId}`, activityId, ({ redis }) => redis.unlink(...keys));
}
