import type { RedisClient } from './redis-client.ts';
import type { StockScripts } from './scripts.ts';
import { stockKeys } from './stock-keys.ts';

export interface Reservation {
  readonly activityId: number;
  /** Generation of the activity in MySQL. Redis refuses when it was loaded under another. */
  readonly generation: number;
  readonly orderId: string;
  readonly userId: string;
  readonly quantity: number;
}

const reserveKinds = ['reserved', 'sold_out', 'user_holds', 'not_ready', 'released'] as const;

/**
 * `reserved`: the order holds its units, or has sold them. `sold_out`: fewer are free than asked for.
 * `user_holds`: another order of this user is active. `not_ready`: not loaded, or under another generation.
 * `released`: this very order was given back before; it never holds again.
 */
export interface ReserveResult {
  readonly kind: (typeof reserveKinds)[number];
}

/**
 * Hold stock for an order, at once or not at all, in one round trip. Sent again for the same order it answers
 * `reserved` and moves nothing.
 * @throws {StockUnavailableError} when the outcome is unknown: repeat it, or release the order.
 * @throws {Error} when the order is held for another user or quantity: order ids were mixed up.
 */
export async function reserve(
  { ask }: RedisClient,
  scripts: StockScripts,
  { activityId, generation, orderId, userId, quantity }: Reservation,
): Promise<ReserveResult> {
  if (!Number.isSafeInteger(quantity) || quantity <= 0) {
    throw new RangeError(`A quantity is a positive whole number, not ${quantity}.`);
  }
  const keys = stockKeys(activityId);
  const argv = [String(generation), orderId, userId, String(quantity)];
  const answer = await ask(`reserve order ${orderId}`, () => scripts.reserve(keys, argv));
  const kind = reserveKinds.find((known) => known === answer);
  if (kind === undefined) throw new TypeError(`reserve.lua answered ${JSON.stringify(answer)}.`);
  return { kind };
}
