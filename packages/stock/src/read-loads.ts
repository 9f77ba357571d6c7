import type { RedisClient } from './redis-client.ts';
import { stockKeys } from './stock-keys.ts';

/** What an activity in Redis was loaded under, and which server it is on now. */
export interface LoadedStock {
  readonly generation: number;
  readonly runId: string;
}

/**
 * How each activity is loaded, in input order; null: not loaded. Sent together, two commands each: MGET over several
 * activities would cross slots in a cluster. A generation whose counter is gone (evicted, deleted by hand) counts
 * as not loaded: else nobody would ever load it again.
 */
export function readLoads(
  { ask }: RedisClient,
  activityIds: readonly number[],
): Promise<(LoadedStock | null)[]> {
  return Promise.all(
    activityIds.map((activityId) =>
      ask(`read the generation of activity ${activityId}`, activityId, async ({ redis, runId }) => {
        const keys = stockKeys(activityId);
        const [generation, counters] = await Promise.all([
          redis.get(keys.generation),
          redis.exists(keys.stock),
        ]);
        if (generation === null || counters !== 1) return null;
        return { generation: Number(generation), runId: await runId.read() };
      }),
    ),
  );
}
