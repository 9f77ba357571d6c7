import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HoldDiffersError, isStockUnavailable, type Reservation, type ReserveResult } from '../src/index.ts';
import type { ReservationPlace } from '../src/reserve.ts';
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
function reserve(activityId: number, wanted: Wanted, place: Partial<ReservationPlace> = {}): Promise<string> {
  const stockRunId = own.runIdOf(activityId);
  return answerOf(own.stock.reserve({ activityId, generation: 1, stockRunId, ...place, ...wanted }));
}

async function answerOf(asked: Promise<ReserveResult>): Promise<string> {
  try {
    return (await asked).kind;
  } catch (error) {
    if (isStockUnavailable(error)) return 'unavailable';
    return error instanceof HoldDiffersError ? 'differs' : (error as Error).message;
  }
}

const buyer = (number: number): Wanted => ({ orderId: `o${number}`, userId: `u${number}`, quantity: 1 });

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
    reserve(one, buyer(1), { generation: 2 }),
    reserve(one, buyer(2)),
    reserve(one, buyer(3), { stockRunId: 'another server' }),
    reserve(two, buyer(2)),
    reserve(one, buyer(4)),
  ]);

  expect(answers).toEqual(['not_ready', 'reserved', 'not_ready', 'reserved', 'sold_out_newcomer']);
});

it('an order that cannot be sent fails alone', async () => {
  const activityId = await openActivity(10);
  const faulty = [
    { ...buyer(1), quantity: 0 },
    { ...buyer(2), userId: null as unknown as string },
  ];

  const answers = await Promise.all(
    [buyer(3), ...faulty, buyer(4)].map((wanted) => reserve(activityId, wanted)),
  );

  expect(answers).toEqual([
    'reserved',
    expect.stringMatching(/positive whole number/),
    expect.stringMatching(/null/),
    'reserved',
  ]);
});
