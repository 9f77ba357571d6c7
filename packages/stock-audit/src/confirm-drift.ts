import { type Difference, keepUnmoved } from './compare-stock.ts';
import { type LookPorts, lookAtStock } from './look-at-stock.ts';

/**
 * The second look at an activity that differed in the first, some seconds later, order by order. In a sale the two
 * stores always differ by what is under way; what both looks find just the same is drift: nobody is going to mend it.
 * @returns what has not moved; empty where all of it was under way.
 */
export async function confirmDrift(
  ports: LookPorts,
  activityId: number,
  first: readonly Difference[],
  youngMs: number,
): Promise<Difference[]> {
  const look = await lookAtStock(ports, activityId, { youngMs, everyOrder: true });
  return look.kind === 'different' ? keepUnmoved(first, look.differences) : [];
}
