import type { RedisClient } from './redis-client.ts';
import type { StockScripts } from './scripts.ts';
import { ordersPerCallMax } from './settle.ts';
import { stockKeys } from './stock-keys.ts';

export interface Hold {
  readonly orderId: string;
  readonly userId: string;
  readonly quantity: number;
  readonly state: 'held' | 'sold' | 'released';
  /** When it was reserved, loaded or released, by the clock of Redis. */
  readonly atMs: number;
}

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

const states = { h: 'held', s: 'sold', r: 'released' } as const;
const holdFormat = /^([hsr]):(\d+):(\d+):(.*)$/s;
/** Entries Redis walks in one step of a scan; a step blocks it for about a millisecond at most. */
const scanCount = 1_000;

/** All holds of an activity, in batches. One that changes meanwhile may come twice or in its old state. */
async function* scanHolds({ ask }: RedisClient, activityId: number): AsyncGenerator<Hold[]> {
  const { holds } = stockKeys(activityId);
  let cursor = '0';
  do {
    const [next, fields] = await ask(`read the holds of activity ${activityId}`, (redis) =>
      redis.hscan(holds, cursor, 'COUNT', scanCount),
    );
    cursor = next;
    const batch: Hold[] = [];
    for (let at = 0; at + 1 < fields.length; at += 2) {
      batch.push(parseHold(fields[at] ?? '', fields[at + 1] ?? ''));
    }
    yield batch;
  } while (cursor !== '0');
}

function parseHold(orderId: string, text: string): Hold {
  const [, letter, quantity, atMs, userId] = holdFormat.exec(text) ?? [];
  const state = states[letter as keyof typeof states];
  if (state === undefined || userId === undefined) {
    throw new TypeError(`The hold of order ${orderId} is not readable: ${text.slice(0, 200)}`);
  }
  return { orderId, userId, quantity: Number(quantity), state, atMs: Number(atMs) };
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
  for await (const batch of scanHolds(client, activityId)) {
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

async function readHead(
  { ask }: RedisClient,
  activityId: number,
): Promise<{ stock: number; users: number; generation: number; holds: number } | null> {
  const keys = stockKeys(activityId);
  // The same slot and the same tick: one transaction, so the four values belong together.
  const answers = await ask(`read activity ${activityId}`, (redis) =>
    redis.multi().get(keys.stock).scard(keys.users).get(keys.generation).hlen(keys.holds).exec(),
  );
  const [stock, users, generation, holds] = (answers ?? []).map(([error, value]) => {
    if (error !== null) throw error;
    return value;
  });
  if (stock === null || generation === null) return null;
  return { stock: Number(stock), users: Number(users), generation: Number(generation), holds: Number(holds) };
}

/**
 * Orders that have held stock for longer than `olderThanMs` by the clock of Redis, in batches of about a thousand.
 * Those that MySQL does not know were never written: the caller fences them there first, and only then releases
 * them. One that changes meanwhile may come twice, or though it is held no more.
 */
export async function* scanHeld(
  client: RedisClient,
  activityId: number,
  { olderThanMs }: { readonly olderThanMs: number },
): AsyncGenerator<Hold[]> {
  const beforeMs = (await redisNow(client)) - olderThanMs;
  for await (const batch of scanHolds(client, activityId)) {
    const held = batch.filter(({ state, atMs }) => state === 'held' && atMs <= beforeMs);
    if (held.length > 0) yield held;
  }
}

/** Forget the markers of orders released longer ago than `olderThanMs`, which otherwise stay for ever. */
export async function pruneReleased(
  client: RedisClient,
  scripts: StockScripts,
  activityId: number,
  { olderThanMs }: { readonly olderThanMs: number },
): Promise<number> {
  const keys = stockKeys(activityId);
  const beforeMs = (await redisNow(client)) - olderThanMs;
  let pruned = 0;
  for await (const batch of scanHolds(client, activityId)) {
    const old = batch.filter(({ state, atMs }) => state === 'released' && atMs <= beforeMs);
    for (let at = 0; at < old.length; at += ordersPerCallMax) {
      const orderIds = old.slice(at, at + ordersPerCallMax).map(({ orderId }) => orderId);
      const answer = await client.ask(`forget released orders of activity ${activityId}`, () =>
        scripts.prune(keys, [String(olderThanMs), ...orderIds]),
      );
      pruned += Number(answer);
    }
  }
  return pruned;
}

async function redisNow({ ask }: RedisClient): Promise<number> {
  const [seconds, micros] = await ask('read the clock', (redis) => redis.time());
  return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
}
