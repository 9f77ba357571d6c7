import type { RedisClient } from './redis-client.ts';
import { stockKeys } from './stock-keys.ts';

/**
 * `done`: units moved, in input order; 0 means "held nothing, or moved before". `not_ready`: the activity is not
 * loaded (any more); repeat it after the next load, where it may find nothing left to do.
 */
export type SettleResult =
  | { readonly kind: 'done'; readonly units: number[] }
  | { readonly kind: 'not_ready' };

/** Orders in one script call: Lua's unpack fails near 8,000, and others wait while a script runs. */
export const ordersPerCallMax = 1_000;

/**
 * Release or confirm the orders of one activity, up to 1,000 in a round trip. Idempotent per order: what failed
 * half way is sent again whole. Calls go one after the other, so that a long list leaves room for reserves.
 * @throws {StockUnavailableError} when the outcome is unknown: repeat it.
 */
export async function settleHolds(
  { ask }: RedisClient,
  how: 'release' | 'confirm',
  activityId: number,
  orderIds: readonly string[],
): Promise<SettleResult> {
  const keys = stockKeys(activityId);
  const units: number[] = [];
  for (let at = 0; at < orderIds.length; at += ordersPerCallMax) {
    const chunk = orderIds.slice(at, at + ordersPerCallMax);
    const answer = await ask(
      `${how} ${chunk.length} orders of activity ${activityId}`,
      activityId,
      ({ scripts }) => scripts[how](keys, chunk),
    );
    if (answer === 'not_ready') return { kind: 'not_ready' };
    units.push(...readUnits(answer, chunk.length, how));
  }
  return { kind: 'done', units };
}

function readUnits(answer: unknown, length: number, how: string): number[] {
  const isUnits = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
  if (Array.isArray(answer) && answer.length === length && answer.every(isUnits)) return answer;
  throw new TypeError(`${how}.lua answered ${JSON.stringify(answer)?.slice(0, 200)} for ${length} orders.`);
}
