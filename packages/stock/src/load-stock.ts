import { randomUUID } from 'node:crypto';
import { isWrongType } from './is-wrong-type.ts';
import type { RedisClient, StockNode } from './redis-client.ts';
import { mapBuyers } from './seen-buyers.ts';
import { stagedKeys, stockKeys } from './stock-keys.ts';
import { StockUnavailableError } from './stock-unavailable.ts';

export interface StockSnapshot {
  readonly activityId: number;
  readonly generation: number;
  readonly capacity: number;
  /** Version of that capacity: Redis takes each change of it once. */
  readonly capacityVersion: number;
  /** Units that are free. */
  readonly stock: number;
  /** The active orders; no two of one user. */
  readonly holds: readonly {
    readonly orderId: string;
    readonly userId: string;
    readonly quantity: number;
    readonly state: 'held' | 'sold';
  }[];
  /**
   * Buyers of orders that have ended, as long as the idempotency key of one is kept: they may ask for its answer once
   * more. Null when they are not known: then anybody may, and no refusal is made without asking MySQL.
   */
  readonly formerBuyers: readonly string[] | null;
}

/** Holds written by one command: 0.3 ms of Redis, and 130 kB with the longest user ids. */
const holdsPerCommand = 250;
/** Of the map of buyers in one command: 0.1 ms of Redis. Parts without a buyer are not sent. */
const mapBytesPerCommand = 65_536;
/** Commands on their way together; others have their turn between any two of them. */
const commandsAtOnce = 8;
/** What an interrupted load leaves behind disappears by itself: its first command sets the time with the data. */
const stagedSeconds = 600;

/**
 * Replace everything Redis knows about an activity. The snapshot gathers under names of its own and is swapped in
 * by one script, so readers see the old or the new and never a part, and the generation is written last. Markers
 * of released orders are forgotten: a reserve that arrives late carries the old generation and is refused.
 *
 * The caller holds the activity's lock in MySQL, and has read under it which load is there (`readLoadToken`): given as
 * `replaces`, this load is refused when another one came in between. So one that is stuck in the network while its
 * transaction is undone and another process loads and sells cannot put the older stock back, under what is by then
 * the right generation. An activity that is new replaces nothing: ''.
 * @returns the run id of the server that took it, for `activity.stock_run_id`.
 * @throws {StockUnavailableError} the old keys or the new ones are in place; repeat it.
 */
export async function loadStock(
  { ask }: RedisClient,
  { activityId, generation, capacity, capacityVersion, stock, holds, formerBuyers }: StockSnapshot,
  replaces: string,
): Promise<string> {
  const keys = stockKeys(activityId);
  if (!Number.isSafeInteger(stock) || stock < 0) throw new RangeError(`Free stock cannot be ${stock}.`);
  if (!Number.isSafeInteger(generation) || generation <= 0) {
    throw new RangeError(`A generation cannot be ${generation}.`);
  }
  const token = randomUUID();
  const staged = stagedKeys(activityId, token);
  const begun = await ask('read the clock', activityId, async ({ redis, runId }) => ({
    server: await runId.read(),
    atMs: Number((await redis.time())[0]) * 1_000,
  }));
  const stage = `load activity ${activityId}`;
  const fieldsOf = (chunk: Chunk): string[] =>
    chunk.flatMap((hold) => [hold.orderId, textOf(hold, begun.atMs)]);
  const [first, ...rest] = chunksOf(holds);
  if (first !== undefined) {
    await ask(stage, activityId, async ({ redis }) => {
      const answers = await redis
        .multi()
        .hset(staged.holds, ...fieldsOf(first))
        .sadd(staged.users, ...usersOf(first))
        .expire(staged.holds, stagedSeconds)
        .expire(staged.users, stagedSeconds)
        .exec();
      for (const [error] of answers ?? []) if (error !== null) throw error;
    });
  }
  for (let at = 0; at < rest.length; at += commandsAtOnce) {
    await ask(stage, activityId, async ({ redis }) => {
      const writes = rest
        .slice(at, at + commandsAtOnce)
        .flatMap((chunk) => [
          redis.hset(staged.holds, ...fieldsOf(chunk)),
          redis.sadd(staged.users, ...usersOf(chunk)),
        ]);
      await Promise.all(writes);
    });
  }
  const map = formerBuyers && mapBuyers(capacity, [...usersOf(holds), ...formerBuyers]);
  if (map) await ask(stage, activityId, (node) => stageMap(node, staged.seen, map));
  const argv = [
    String(generation),
    String(stock),
    String(holds.length),
    `${capacityVersion}:${capacity}`,
    token,
    replaces,
    String(map?.length ?? 0),
  ];
  const { runId, answer } = await ask(stage, activityId, async (node) => {
    const server = await node.runId.read();
    // Another server than the one that was written to may have some of it, in its full length.
    if (server !== begun.server) return { runId: server, answer: 0 };
    return { runId: server, answer: await node.scripts.swapIn(keys, staged, argv) };
  });
  if (answer === -1) throw new Error(`Activity ${activityId} was loaded by somebody else meanwhile.`);
  if (answer !== 1) {
    throw new StockUnavailableError(
      `The load of activity ${activityId} was not complete: ${holds.length} holds were staged. ` +
        'Redis was replaced or lost some of them meanwhile, or two holds share an order or a user.',
    );
  }
  return runId;
}

/** Its last byte first: Redis fills it up with zeros, and it is there whole from then on, with a time to live. */
async function stageMap({ redis }: StockNode, key: string, map: Buffer): Promise<void> {
  const last = map.length - 1;
  const answers = await redis
    .multi()
    .setrange(key, last, map.subarray(last))
    .expire(key, stagedSeconds)
    .exec();
  for (const [error] of answers ?? []) if (error !== null) throw error;
  for (let at = 0; at < map.length; at += mapBytesPerCommand) {
    const part = map.subarray(at, at + mapBytesPerCommand);
    if (part.some((byte) => byte !== 0)) await redis.setrange(key, at, part);
  }
}

type Chunk = StockSnapshot['holds'];

function chunksOf(holds: Chunk): Chunk[] {
  return Array.from({ length: Math.ceil(holds.length / holdsPerCommand) }, (_, index) =>
    holds.slice(index * holdsPerCommand, (index + 1) * holdsPerCommand),
  );
}

function usersOf(chunk: Chunk): string[] {
  return chunk.map(({ userId }) => userId);
}

function textOf({ state, quantity, userId }: StockSnapshot['holds'][number], atMs: number): string {
  return `${state === 'held' ? 'h' : 's'}:${quantity}:${atMs}:${userId}`;
}

/**
 * Which load is there: a name of its own for each; empty when what is there is no name. Where there is none, that is
 * given a name now, and so can be told from a later time without one: a load that was on its way when Redis was empty,
 * and comes when it is empty again, would else put stock of before under a generation that is by then the right one.
 */
export async function readLoadToken({ ask }: RedisClient, activityId: number): Promise<string> {
  const { load } = stockKeys(activityId);
  try {
    return await ask(`read the load of activity ${activityId}`, activityId, async ({ redis }) => {
      const answers = await redis.multi().set(load, randomUUID(), 'NX').get(load).exec();
      const [error, token] = answers?.[1] ?? [];
      if (error) throw error;
      return String(token);
    });
  } catch (error) {
    if (isWrongType(error)) return '';
    throw error;
  }
}
