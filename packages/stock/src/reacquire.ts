import type { RedisClient } from './redis-client.ts';
import { hashBuyer } from './seen-buyers.ts';
import { ordersPerCallMax } from './settle.ts';
import { stockKeys } from './stock-keys.ts';

export interface ReacquiredOrder {
  readonly orderId: string;
  readonly userId: string;
  readonly quantity: number;
}

/**
 * `done`: every order but those of `notYet` is sold. `notYet`: MySQL is ahead of Redis, where another order that
 * MySQL has refused or closed still holds the units or the user; repeat these once that one is released.
 * `not_ready`: the activity is not loaded; the load itself will bring these orders as sold.
 */
export type ReacquireResult =
  | { readonly kind: 'done'; readonly notYet: readonly string[] }
  | { readonly kind: 'not_ready' };

/**
 * Sell to orders that were paid after their close, which MySQL has committed. Takes units and user, or turns the
 * hold into a sale when the release has not come through yet: it comes later, and leaves a sold order alone.
 * Idempotent per order: what failed half way is sent again whole.
 * @throws {StockUnavailableError} when the outcome is unknown: repeat it.
 */
export async function reacquire(
  { ask }: RedisClient,
  activityId: number,
  orders: readonly ReacquiredOrder[],
): Promise<ReacquireResult> {
  const keys = stockKeys(activityId);
  const notYet: string[] = [];
  for (let at = 0; at < orders.length; at += ordersPerCallMax) {
    const chunk = orders.slice(at, at + ordersPerCallMax);
    const argv = chunk.flatMap(({ orderId, userId, quantity }) => [
      ...[orderId, userId, units(quantity), String(hashBuyer(userId))],
    ]);
    const answer = await ask(
      `reacquire ${chunk.length} orders of activity ${activityId}`,
      activityId,
      ({ scripts }) => scripts.reacquire(keys, argv),
    );
    if (answer === 'not_ready') return { kind: 'not_ready' };
    if (!Array.isArray(answer) || answer.length !== chunk.length) {
      throw new TypeError(`reacquire.lua answered ${JSON.stringify(answer)?.slice(0, 200)}.`);
    }
    notYet.push(...chunk.filter((_, index) => answer[index] === -1).map(({ orderId }) => orderId));
  }
  return { kind: 'done', notYet };
}

function units(quantity: number): string {
  if (Number.isSafeInteger(quantity) && quantity > 0) return String(quantity);
  throw new RangeError(`A quantity is a positive whole number, not ${quantity}.`);
}
