import { randomUUID } from 'node:crypto';
import type { RedisClient } from './redis-client.ts';
import { stagedKeys, stockKeys } from './stock-keys.ts';
import { StockUnavailableError } from './stock-unavailable.ts';

export interface StockSnapshot {
  readonly activityId: number;
  readonly generation: number;
  readonly capacity: number;
  /** Version of that capacity: Redis takes each change of it once. */
  readonly capacityVersion: number;
  /** Units that are free. */
  readonly stock: number;
  /** The active orders; no two of one user. */
  readonly holds: readonly {
    readonly orderId: string;
    readonly userId: string;
    readonly quantity: number;
    readonly state: 'held' | 'sold';
  }[];
}

/** Holds written by one command; with the longest user ids about half a megabyte. */
const holdsPerCommand = 1_000;
/** What an interrupted load leaves behind disappears by itself. */
const stagedSeconds = 600;

/**
 * Replace everything Redis knows about an activity. The snapshot gathers under names of its own and is swapped in
 * by one script, so readers see the old or the new and never a part, and the generation is written last. Markers
 * of released orders are forgotten: a reserve that arrives late carries the old generation and is refused.
 *
 * The caller holds the activity's lock in MySQL. Loads without it do not mix, but the last one wins.
 * @returns the run id of the server that took it, for `activity.stock_run_id`.
 * @throws {StockUnavailableError} the old keys or the new ones are in place; repeat it.
 */
export async function loadStock(
  { ask }: RedisClient,
  { activityId, generation, capacity, capacityVersion, stock, holds }: StockSnapshot,
): Promise<string> {
  const keys = stockKeys(activityId);
  if (!Number.isSafeInteger(stock) || stock < 0) throw new RangeError(`Free stock cannot be ${stock}.`);
  if (!Number.isSafeInteger(generation) || generation <= 0) {
    throw new RangeError(`A generation cannot be ${generation}.`);
  }
  const staged = stagedKeys(activityId, randomUUID());
  const loadedAtMs = await ask(
    'read the clock',
    activityId,
    async ({ redis }) => Number((await redis.time())[0]) * 1_000,
  );
  for (let at = 0; at < holds.length; at += holdsPerCommand) {
    const chunk = holds.slice(at, at + holdsPerCommand);
    const fields = chunk.flatMap(({ orderId, userId, quantity, state }) => [
      orderId,
      `${state === 'held' ? 'h' : 's'}:${quantity}:${loadedAtMs}:${userId}`,
    ]);
    await ask(`load activity ${activityId}`, activityId, ({ redis }) =>
      Promise.all([
        redis.hset(staged.holds, ...fields),
        redis.sadd(staged.users, ...chunk.map(({ userId }) => userId)),
        redis.expire(staged.holds, stagedSeconds),
        redis.expire(staged.users, stagedSeconds),
      ]),
    );
  }
  const argv = [String(generation), String(stock), String(holds.length), `${capacityVersion}:${capacity}`];
  const { runId, answer } = await ask(`load activity ${activityId}`, activityId, async (node) => {
    const server = await node.runId.read();
    return { runId: server, answer: await node.scripts.swapIn(keys, staged, argv) };
  });
  if (answer !== 1) {
    throw new StockUnavailableError(
      `The load of activity ${activityId} was not complete: ${holds.length} holds were staged. ` +
        'Redis lost some of them meanwhile, or two holds share an order or a user.',
    );
  }
  return runId;
}
