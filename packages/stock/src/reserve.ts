import { isWrongType } from './is-wrong-type.ts';
import type { RedisClient } from './redis-client.ts';
import { hashBuyer } from './seen-buyers.ts';
import { stockKeys } from './stock-keys.ts';

export interface Reservation {
  readonly activityId: number;
  /** Generation of the activity in MySQL. Redis refuses when it was loaded under another. */
  readonly generation: number;
  /** Run id of the server that the activity was loaded into, from MySQL; null: never loaded. */
  readonly stockRunId: string | null;
  readonly orderId: string;
  readonly userId: string;
  readonly quantity: number;
}

const reserveKinds = [
  ...(['reserved', 'sold_out', 'sold_out_newcomer', 'user_holds', 'not_ready', 'released'] as const),
];

/**
 * `reserved`: the order holds its units, or has sold them. `sold_out`: fewer are free than asked for, and this buyer
 * may have had an order here before. `sold_out_newcomer`: the same, and this buyer surely never had one that MySQL
 * could know by its idempotency key. Every order in MySQL took its hold here first, in this load, or was known to it.
 * `user_holds`: another order of this user is active. `not_ready`: not loaded, under another generation, this is
 * another server than the one it was loaded into, or a value there is none that a script wrote: a load mends all four.
 * `released`: this very order was given back before; it never holds again.
 */
export interface ReserveResult {
  readonly kind: (typeof reserveKinds)[number];
}

/**
 * Hold stock for an order, at once or not at all, in one round trip. Sent again for the same order it answers
 * `reserved` and moves nothing.
 *
 * A server that was started again may have older data under the same generation (a snapshot, a replica that lagged),
 * and would sell places twice. Its run id is another one, so it is refused here, before anything is sent, until the
 * activity has been loaded again. The run id is known by then and costs no round trip, but for the first reserve of
 * a connection.
 * @throws {StockUnavailableError} when the outcome is unknown: repeat it, or release the order.
 * @throws {Error} when the order is held for another user or quantity: order ids were mixed up.
 */
export async function reserve(
  { ask }: RedisClient,
  { activityId, generation, stockRunId, orderId, userId, quantity }: Reservation,
): Promise<ReserveResult> {
  if (!Number.isSafeInteger(quantity) || quantity <= 0) {
    throw new RangeError(`A quantity is a positive whole number, not ${quantity}.`);
  }
  const keys = stockKeys(activityId);
  const argv = [String(generation), orderId, userId, String(quantity), String(hashBuyer(userId))];
  const asked = ask(`reserve order ${orderId}`, activityId, async ({ scripts, runId }) => {
    // No await between the look and the sending: both are of the same connection.
    const server = runId.now() ?? (await runId.read());
    return server === stockRunId ? scripts.reserve(keys, argv) : 'not_ready';
  });
  const answer = await asked.catch((error: unknown) => {
    // The script reads every key before it writes one: nothing was held.
    if (isWrongType(error)) return 'not_ready';
    throw error;
  });
  const kind = reserveKinds.find((known) => known === answer);
  if (kind === undefined) throw new TypeError(`reserve.lua answered ${JSON.stringify(answer)}.`);
  return { kind };
}
