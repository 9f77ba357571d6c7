import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Reservation } from '../src/index.ts';
import { emptySnapshot, loadOver, openTestStock, type TestStock } from './open-test-stock.ts';

let own: TestStock;
let lastActivity = 0;

beforeAll(async () => {
  own = await openTestStock();
});
afterAll(() => own.close());

async function openActivity(capacity: number): Promise<number> {
  lastActivity += 1;
  await loadOver(own.stock, emptySnapshot(lastActivity, capacity));
  return lastActivity;
}

type Wanted = Pick<Reservation, 'orderId' | 'userId' | 'quantity'>;

/** Asked now; errors are answers too. */
function reserve(activityId: number, wanted: Wanted, generation = 1): Promise<string> {
  const place = { activityId, generation, stockRunId: own.runIdOf(activityId) };
  return own.stock.reserve({ ...place, ...wanted }).then(
    ({ kind }) => kind,
    (error: Error) => (/LAPSE_STOCK_HOLD_DIFFERS/.test(error.message) ? 'differs' : error.message),
  );
}

const buyer = (number: number): Wanted => ({ orderId: `o${number}`, userId: `u${number}`, quantity: 1 });
const buyers = (count: number): Wanted[] => Array.from({ length: count }, (_, index) => buyer(index));

/** Calls of scripts that the server has counted, whoever made them. */
async function scriptCalls(): Promise<number> {
  if (!('info' in own.redis)) throw new Error('one server is meant');
  const stats = String(await own.redis.info('commandstats'));
  const counts = [...stats.matchAll(/cmdstat_evalsha:calls=(\d+)/g)];
  return counts.reduce((sum, [, calls]) => sum + Number(calls), 0);
}

it('orders that are asked for in one turn go in one call, 256 at most; a lone one goes at once', async () => {
  const activityId = await openActivity(1_000);
  await reserve(activityId, buyer(999));
  const before = await scriptCalls();

  const answers = await Promise.all(buyers(600).map((wanted) => reserve(activityId, wanted)));

  expect(new Set(answers)).toEqual(new Set(['reserved']));
  expect((await scriptCalls()) - before).toBe(3);
  await reserve(activityId, buyer(998));
  expect((await scriptCalls()) - before).toBe(4);
  expect(await own.stock.readCounts(activityId)).toMatchObject({ stock: 398, held: 602, users: 602 });
});

/** Few orders, buyers and places, so that they meet within a call: twice the same, the last place, another's order. */
const wantedMany = fc.array(
  fc.record({
    orderId: fc.integer({ min: 0, max: 6 }).map((order) => `o${order}`),
    userId: fc.integer({ min: 0, max: 4 }).map((user) => `u${user}`),
    quantity: fc.integer({ min: 1, max: 3 }),
  }),
  { minLength: 1, maxLength: 12 },
);

it('orders of one call are answered, and leave behind, what they would one by one', async () => {
  await fc.assert(
    fc.asyncProperty(wantedMany, fc.subarray(['o0', 'o1', 'o2']), async (many, releasedBefore) => {
      const [together, apart] = [await openActivity(5), await openActivity(5)];
      for (const activityId of [together, apart]) {
        if (releasedBefore.length > 0) await own.stock.release(activityId, releasedBefore);
      }

      const answers = await Promise.all(many.map((wanted) => reserve(together, wanted)));

      const oneByOne: string[] = [];
      for (const wanted of many) oneByOne.push(await reserve(apart, wanted));
      expect(answers).toEqual(oneByOne);
      expect(await stateOf(together)).toEqual(await stateOf(apart));
    }),
    { numRuns: 150 },
  );
});

/** All that reserve writes, without the times. */
async function stateOf(activityId: number): Promise<unknown> {
  const key = (name: string): string => `activity:{${activityId}}:${name}`;
  const holds = await own.redis.hgetall(key('holds'));
  return {
    stock: await own.redis.get(key('stock')),
    users: (await own.redis.smembers(key('users'))).toSorted(),
    holds: Object.fromEntries(
      Object.entries(holds).map(([order, hold]) => [order, hold.replace(/:\d{13}:/, ':at:')]),
    ),
    seen: (await own.redis.getBuffer(key('seen')))?.toString('hex'),
  };
}

it('one that belongs to somebody else fails alone, whoever travels with it', async () => {
  const activityId = await openActivity(10);
  await reserve(activityId, buyer(1));
  const mixedUp = { ...buyer(1), userId: 'somebody else' };

  const answers = await Promise.all(
    [buyer(2), mixedUp, buyer(3)].map((wanted) => reserve(activityId, wanted)),
  );

  expect(answers).toEqual(['reserved', 'differs', 'reserved']);
});

it('what is asked of other activities or of an old generation in the same turn is decided apart', async () => {
  const [one, two] = [await openActivity(1), await openActivity(1)];

  const answers = await Promise.all([
    reserve(one, buyer(1), 2),
    reserve(one, buyer(2)),
    reserve(two, buyer(2)),
    reserve(one, buyer(3)),
  ]);

  expect(answers).toEqual(['not_ready', 'reserved', 'reserved', 'sold_out_newcomer']);
});
