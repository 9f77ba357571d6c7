import type { RedisClient } from './redis-client.ts';
import { type Hold, parseHold } from './stock-hold.ts';
import { stockKeys } from './stock-keys.ts';

/** What Redis holds of one order. `unreadable`: a value that no script wrote. */
export type HoldLook =
  | { readonly kind: 'hold'; readonly hold: Hold }
  | { readonly kind: 'none' }
  | { readonly kind: 'unreadable'; readonly text: string };

/** Most of an unreadable value that is shown, in characters. */
const shownMax = 200;

/** Read the hold of one order: none when it never held here, or was given back more than an hour ago. */
export async function readHold(client: RedisClient, activityId: number, orderId: string): Promise<HoldLook> {
  const { holds } = stockKeys(activityId);
  const text = await client.ask(`read the hold of order ${orderId}`, activityId, ({ redis }) =>
    redis.hget(holds, orderId),
  );
  if (text === null) return { kind: 'none' };
  const hold = parseHold(orderId, text);
  return hold === null ? { kind: 'unreadable', text: text.slice(0, shownMax) } : { kind: 'hold', hold };
}
