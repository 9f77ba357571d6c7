import type { RedisClient } from './redis-client.ts';
import { stockKeys } from './stock-keys.ts';

const capacityKinds = ['done', 'not_yet', 'not_ready'] as const;

/**
 * `done`: Redis has this version or a later one. `not_yet`: more units must go than are free, because Redis still
 * holds for orders that MySQL will refuse; what was free has gone, repeat it. `not_ready`: not loaded; the load
 * itself will bring the capacity.
 */
export interface CapacityResult {
  readonly kind: (typeof capacityKinds)[number];
}

/**
 * Follow a change of capacity that MySQL has committed: move the free units by the difference, once per version.
 * @throws {StockUnavailableError} when the outcome is unknown: repeat it.
 */
export async function setCapacity(
  { ask }: RedisClient,
  activityId: number,
  version: number,
  capacity: number,
): Promise<CapacityResult> {
  if (!Number.isSafeInteger(version) || version <= 0 || !Number.isSafeInteger(capacity) || capacity < 0) {
    throw new RangeError(`A capacity cannot be ${capacity}, nor its version ${version}.`);
  }
  const argv = [String(version), String(capacity)];
  const answer = await ask(`set the capacity of activity ${activityId}`, activityId, ({ scripts }) =>
    scripts.setCapacity(stockKeys(activityId), argv),
  );
  const kind = capacityKinds.find((known) => known === answer);
  if (kind === undefined) throw new TypeError(`set-capacity.lua answered ${JSON.stringify(answer)}.`);
  return { kind };
}
