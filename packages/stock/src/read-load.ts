import { isWrongType } from './is-wrong-type.ts';
import type { RedisClient } from './redis-client.ts';
import { stockKeys } from './stock-keys.ts';

/** What an activity in Redis was loaded under, and which server it is on now. */
export interface LoadedStock {
  readonly generation: number;
  readonly runId: string;
}

/**
 * How an activity is loaded; null: not loaded. Two commands. A generation whose counter is gone (evicted, deleted by
 * hand), or that is of another type, counts as not loaded: else nobody would ever load it again. Ask for many at once
 * by many calls: they travel together, and where one node of a cluster is away, the others answer.
 */
export async function readLoad({ ask }: RedisClient, activityId: number): Promise<LoadedStock | null> {
  try {
    return await ask(
      `read the generation of activity ${activityId}`,
      activityId,
      async ({ redis, runId }) => {
        const keys = stockKeys(activityId);
        const [generation, counters] = await Promise.all([
          redis.get(keys.generation),
          redis.exists(keys.stock),
        ]);
        if (generation === null || counters !== 1) return null;
        return { generation: Number(generation), runId: await runId.read() };
      },
    );
  } catch (error) {
    if (isWrongType(error)) return null;
    throw error;
  }
}
