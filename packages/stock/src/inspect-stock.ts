import { isWrongType } from './is-wrong-type.ts';
import { scanCount, scanFields } from './read-holds.ts';
import type { RedisClient, StockNode } from './redis-client.ts';
import { mapBytesMax, maySee } from './seen-buyers.ts';
import { type Hold, isOrderId, parseHold } from './stock-hold.ts';
import { stockKeys } from './stock-keys.ts';

/** Everything Redis knows about an activity, to be compared with MySQL. */
export interface LoadedImage {
  readonly kind: 'loaded';
  readonly generation: number;
  readonly runId: string;
  /** When counter and users were read, by the clock of Redis. */
  readonly atMs: number;
  readonly stock: number;
  readonly capacity: number;
  readonly capacityVersion: number;
  /** Held and sold orders, and those released within the markers' time. */
  readonly holds: ReadonlyMap<string, Hold>;
  readonly users: ReadonlySet<string>;
  /** Users whom the map of buyers does not know. */
  readonly unseen: readonly string[];
  /** Units and users that Redis has too many (below zero: too few) by its own sums; null: it moved too fast to say. */
  readonly unitsOff: number | null;
  readonly usersOff: number | null;
}

/** `unreadable`: a value that no script wrote, named in `what`. Only a load mends it. */
export type StockImage =
  | LoadedImage
  | { readonly kind: 'not_loaded' }
  | { readonly kind: 'unreadable'; readonly what: string };

/** Of the map of buyers in one command: about 0.1 ms of Redis. */
const mapBytesPerCommand = 262_144;

interface Head {
  readonly atMs: number;
  readonly stock: string | null;
  readonly users: number;
  readonly generation: string | null;
  readonly capacity: string | null;
}

/**
 * Read an activity whole, in steps of about a millisecond, so that a sale goes on meanwhile: about 40 MB and half a
 * second for 100,000 orders.
 *
 * The sums are exact all the same. Counter and users are read at one moment; each hold says since when it is held, a
 * marker since when it is not and what it held, so what was held at that moment can be told however much moved since.
 * A hold that moved in that very millisecond leaves the sums open.
 */
export async function inspectStock(client: RedisClient, activityId: number): Promise<StockImage> {
  try {
    return await inspect(client, activityId);
  } catch (error) {
    if (!isWrongType(error)) throw error;
    return { kind: 'unreadable', what: 'a key is of another type' };
  }
}

async function inspect(client: RedisClient, activityId: number): Promise<StockImage> {
  const { head, runId } = await client.ask(`read activity ${activityId}`, activityId, async (node) => ({
    head: await readHead(node, activityId),
    runId: await node.runId.read(),
  }));
  const { stock, generation, capacity } = head;
  if (stock === null || generation === null) return { kind: 'not_loaded' };
  const [, capacityVersion, units] = /^(\d{1,15}):(\d{1,15})$/.exec(capacity ?? '') ?? [];
  if (!/^\d{1,15}$/.test(stock)) return { kind: 'unreadable', what: `stock is ${stock.slice(0, 40)}` };
  if (!/^\d{1,15}$/.test(generation)) return { kind: 'unreadable', what: 'generation is no number' };
  if (units === undefined) return { kind: 'unreadable', what: 'capacity is absent or no number' };

  const holds = new Map<string, Hold>();
  for await (const fields of scanFields(client, activityId)) {
    for (const [orderId, text] of fields) {
      const hold = isOrderId(orderId) ? parseHold(orderId, text) : null;
      if (hold === null) return { kind: 'unreadable', what: `hold of order ${orderId.slice(0, 40)}` };
      holds.set(orderId, hold);
    }
  }
  const then = countAt(holds.values(), head.atMs);
  const users = await scanUsers(client, activityId);
  // Read after the users: whoever is among them had a bit before.
  const map = await readMap(client, activityId);
  return {
    kind: 'loaded',
    generation: Number(generation),
    runId,
    atMs: head.atMs,
    stock: Number(stock),
    capacity: Number(units),
    capacityVersion: Number(capacityVersion),
    holds,
    users,
    unseen: [...users].filter((userId) => !maySee(map, userId)),
    unitsOff: then && Number(stock) + then.units - Number(units),
    usersOff: then && head.users - then.orders,
  };
}

async function readHead({ redis }: StockNode, activityId: number): Promise<Head> {
  const keys = stockKeys(activityId);
  const answers = await redis
    .multi()
    .time()
    .get(keys.stock)
    .scard(keys.users)
    .get(keys.generation)
    .get(keys.capacity)
    .exec();
  const [time, stock, users, generation, capacity] = (answers ?? []).map(([error, value]) => {
    if (error !== null) throw error;
    return value;
  });
  const [seconds, micros] = time as [string, string];
  return {
    atMs: Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000),
    stock: stock as string | null,
    users: Number(users),
    generation: generation as string | null,
    capacity: capacity as string | null,
  };
}

/** What was held or sold at a moment; null when something moved in its very millisecond. */
function countAt(holds: Iterable<Hold>, atMs: number): { units: number; orders: number } | null {
  let units = 0;
  let orders = 0;
  for (const { state, quantity, atMs: changedAtMs, heldFromMs } of holds) {
    if (changedAtMs === atMs || heldFromMs === atMs) return null;
    const active =
      state === 'released'
        ? changedAtMs > atMs && heldFromMs !== null && heldFromMs < atMs
        : changedAtMs < atMs;
    if (!active) continue;
    units += quantity;
    orders += 1;
  }
  return { units, orders };
}

async function scanUsers({ ask }: RedisClient, activityId: number): Promise<Set<string>> {
  const { users } = stockKeys(activityId);
  const found = new Set<string>();
  let cursor = '0';
  do {
    const [next, members] = await ask(`read the users of activity ${activityId}`, activityId, ({ redis }) =>
      redis.sscan(users, cursor, 'COUNT', scanCount),
    );
    cursor = next;
    for (const member of members) found.add(member);
  } while (cursor !== '0');
  return found;
}

/** Empty when there is none. What no load wrote may be longer; its rest is left out, and then nobody's bit is right. */
async function readMap({ ask }: RedisClient, activityId: number): Promise<Buffer> {
  const { seen } = stockKeys(activityId);
  const parts: Buffer[] = [];
  for (let at = 0; at < mapBytesMax; at += mapBytesPerCommand) {
    const part = await ask(`read the buyers of activity ${activityId}`, activityId, ({ redis }) =>
      redis.getrangeBuffer(seen, at, at + mapBytesPerCommand - 1),
    );
    parts.push(part);
    if (part.length < mapBytesPerCommand) break;
  }
  return Buffer.concat(parts);
}
