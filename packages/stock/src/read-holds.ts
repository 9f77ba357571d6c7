import type { RedisClient } from './redis-client.ts';
import { ordersPerCallMax } from './settle.ts';
import { type Hold, isOrderId, parseHold } from './stock-hold.ts';
import { stockKeys } from './stock-keys.ts';

export interface StockCounts {
  /** Units free, held by pending orders, sold to paid ones. */
  readonly stock: number;
  readonly held: number;
  readonly sold: number;
  readonly users: number;
  readonly generation: number;
  /** False when the activity moved while it was counted; then the sums are close, and need not add up. */
  readonly steady: boolean;
}

/** Entries Redis walks in one step of a scan; a step blocks it for about a millisecond at most. */
export const scanCount = 1_000;

/** All fields of an activity's holds, in batches. One that changes meanwhile may come twice or in its old state. */
export async function* scanFields(
  { ask }: RedisClient,
  activityId: number,
): AsyncGenerator<[orderId: string, text: string][]> {
  const { holds } = stockKeys(activityId);
  let cursor = '0';
  do {
    const [next, fields] = await ask(`read the holds of activity ${activityId}`, activityId, ({ redis }) =>
      redis.hscan(holds, cursor, 'COUNT', scanCount),
    );
    cursor = next;
    const batch: [string, string][] = [];
    for (let at = 0; at + 1 < fields.length; at += 2) batch.push([fields[at] ?? '', fields[at + 1] ?? '']);
    yield batch;
  } while (cursor !== '0');
}

async function* readAllHolds(client: RedisClient, activityId: number): AsyncGenerator<Hold[]> {
  for await (const fields of scanFields(client, activityId)) {
    yield fields.map(([orderId, text]) => {
      const hold = parseHold(orderId, text);
      if (hold !== null) return hold;
      throw new TypeError(`The hold of order ${orderId} is not readable: ${text.slice(0, 200)}`);
    });
  }
}

/**
 * Count an activity's units; null when it is not loaded. Reads every hold in steps, so it never stops a sale,
 * and says in `steady` whether the sums belong to one moment.
 */
export async function readCounts(client: RedisClient, activityId: number): Promise<StockCounts | null> {
  const before = await readHead(client, activityId);
  if (before === null) return null;
  const units = { held: 0, sold: 0, released: 0 };
  const seen = new Set<string>();
  for await (const batch of readAllHolds(client, activityId)) {
    for (const { orderId, state, quantity } of batch) {
      if (seen.has(orderId)) continue;
      seen.add(orderId);
      units[state] += quantity;
    }
  }
  const after = await readHead(client, activityId);
  if (after === null) return null;
  const { stock, users, generation } = after;
  const steady = JSON.stringify(before) === JSON.stringify(after);
  return { stock, held: units.held, sold: units.sold, users, generation, steady };
}

/** Counter, users, generation and number of entries, all of one moment; null when the activity is not loaded. */
export async function readHead(
  { ask }: RedisClient,
  activityId: number,
): Promise<{ stock: number; users: number; generation: number; holds: number } | null> {
  const keys = stockKeys(activityId);
  // The same slot and the same tick: one transaction, so the four values belong together.
  const answers = await ask(`read activity ${activityId}`, activityId, ({ redis }) =>
    redis.multi().get(keys.stock).scard(keys.users).get(keys.generation).hlen(keys.holds).exec(),
  );
  const [stock, users, generation, holds] = (answers ?? []).map(([error, value]) => {
    if (error !== null) throw error;
    return value;
  });
  if (stock === null || generation === null) return null;
  return { stock: Number(stock), users: Number(users), generation: Number(generation), holds: Number(holds) };
}

/** Ages, in milliseconds by the clock of Redis, from which holds and markers of released orders are listed. */
export interface OldHolds {
  readonly heldMs: number;
  readonly releasedMs: number;
}

/**
 * Held orders and markers of released ones that are old enough, in batches of up to about a thousand. Sold ones are
 * left out: they stay as long as their order. One that changes meanwhile may come twice, or in its old state. What no
 * script wrote is passed over, so that it keeps nobody from the rest: the audit finds it (`inspectStock`).
 */
export async function* scanOld(
  client: RedisClient,
  activityId: number,
  { heldMs, releasedMs }: OldHolds,
): AsyncGenerator<Hold[]> {
  const nowMs = await redisNow(client, activityId);
  const ages = { held: heldMs, released: releasedMs, sold: Number.POSITIVE_INFINITY };
  for await (const fields of scanFields(client, activityId)) {
    const old = fields
      .flatMap(([orderId, text]) => (isOrderId(orderId) ? (parseHold(orderId, text) ?? []) : []))
      .filter(({ state, atMs }) => nowMs - atMs >= ages[state]);
    if (old.length > 0) yield old;
  }
}

/**
 * Forget the markers of these orders where they were released longer ago than `olderThanMs`.
 *
 * A marker has one use: a reserve that arrives after its order was given back is refused. A reserve is sent once, by
 * the request that made the order's id, and answered or given up within the command timeout (2 s); what the network
 * still carries then is dropped with its connection. An hour is far beyond that. All else that may be replayed, for
 * as long as its effect is in MySQL, needs no marker: a release of an order that is not known gives nothing back, a
 * confirm of it does nothing, and a reacquire takes its places as from a marker.
 *
 * Sold holds are never forgotten: their units are part of the capacity, and they go with the activity.
 * @returns how many were forgotten.
 */
export async function forgetReleased(
  { ask }: RedisClient,
  activityId: number,
  orderIds: readonly string[],
  { olderThanMs }: { readonly olderThanMs: number },
): Promise<number> {
  const keys = stockKeys(activityId);
  let forgotten = 0;
  for (let at = 0; at < orderIds.length; at += ordersPerCallMax) {
    const chunk = orderIds.slice(at, at + ordersPerCallMax);
    const answer = await ask(`forget released orders of activity ${activityId}`, activityId, ({ scripts }) =>
      scripts.prune(keys, [String(olderThanMs), ...chunk]),
    );
    forgotten += Number(answer);
  }
  return forgotten;
}

function redisNow({ ask }: RedisClient, activityId: number): Promise<number> {
  return ask('read the clock', activityId, async ({ redis }) => {
    const [seconds, micros] = await redis.time();
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  });
}
