import { createLogger } from '@lapse/runtime';
import { openStock, type Stock } from '@lapse/stock';
import { createTestRedis, type TestRedis } from '@lapse/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { guardsWithout } from '../src/guards.ts';
import { createModelRedis, type ModelRedis } from '../src/model-redis.ts';
import { type RedisStep, redisStep } from './history.ts';

const histories = 100;
const capacity = 4;
const idOf = (order: number): string => `01890000-0000-7000-8000-00000000000${order}`;
/** One user and quantity an order, two orders a user: a replay is a true one, and users meet themselves. */
const detailsOf = (order: number) => ({
  orderId: idOf(order),
  userId: `u${order % 3}`,
  quantity: (order % 2) + 1,
});
const idsOf = (orders: readonly number[]): string[] => orders.map(idOf);

let redis: TestRedis;
let stock: Stock;
let activityId = 0;

beforeAll(async () => {
  redis = await createTestRedis();
  stock = await openStock({ url: redis.url, commandTimeoutMs: 5_000 }, createLogger('simulation', 'silent'));
});
afterAll(async () => {
  await stock.close();
  await redis.close();
});

/** The same step on both. */
async function both(step: RedisStep, model: ModelRedis): Promise<[unknown, unknown]> {
  switch (step.do) {
    case 'reserve': {
      const wanted = { activityId, generation: step.generation, ...detailsOf(step.order) };
      const load = await stock.readLoad(activityId);
      const modelled = model.readLoad(activityId);
      return [
        await stock.reserve({ ...wanted, stockRunId: load?.runId ?? null }),
        model.reserve({ ...wanted, stockRunId: modelled?.runId ?? null }),
      ];
    }
    case 'release':
    case 'confirm': {
      const ids = idsOf(step.orders);
      return [await stock[step.do](activityId, ids), model[step.do](activityId, ids)];
    }
    case 'reacquire': {
      const orders = step.orders.map(detailsOf);
      return [await stock.reacquire(activityId, orders), model.reacquire(activityId, orders)];
    }
    case 'capacity': {
      const { version, capacity: units } = step;
      return [
        await stock.setCapacity(activityId, version, units),
        model.setCapacity(activityId, version, units),
      ];
    }
    case 'load': {
      const users = new Set<string>();
      const holds = step.held
        .map((order) => ({ ...detailsOf(order), state: order > 3 ? ('sold' as const) : ('held' as const) }))
        .filter(({ userId }) => !users.has(userId) && users.add(userId));
      const taken = holds.reduce((total, { quantity }) => total + quantity, 0);
      const { generation } = step;
      const sizes = { capacity, capacityVersion: generation, stock: capacity - taken };
      const formerBuyers = step.former?.map((order) => detailsOf(order).userId) ?? null;
      const snapshot = { activityId, generation, ...sizes, holds, formerBuyers };
      await stock.load(snapshot, await stock.readLoadToken(activityId));
      model.load(snapshot, model.readLoadToken(activityId));
      return [undefined, undefined];
    }
    case 'prune': {
      const all = idsOf([0, 1, 2, 3, 4, 5]);
      const forgotten = await stock.forgetReleased(activityId, all, step);
      return [forgotten, model.forgetReleased(activityId, all, step.olderThanMs)];
    }
    case 'held': {
      const real: string[] = [];
      const ages = { heldMs: step.olderThanMs, releasedMs: Number.POSITIVE_INFINITY };
      for await (const batch of stock.scanOld(activityId, ages))
        real.push(...batch.map(({ orderId }) => orderId));
      return [
        real.sort(),
        model
          .old(activityId, ages)
          .map(({ orderId }) => orderId)
          .sort(),
      ];
    }
  }
}

function countsOf(model: ModelRedis) {
  const state = model.activities.get(activityId);
  if (!state) return null;
  const units = (wanted: string): number =>
    [...state.holds.values()].reduce((total, hold) => total + (hold.state === wanted ? hold.quantity : 0), 0);
  const { stock: free, users, generation } = state;
  return { stock: free, held: units('held'), sold: units('sold'), users: users.size, generation };
}

it('any short history ends on the modelled Redis as it does on the real one', async () => {
  const history = fc.array(redisStep, { minLength: 1, maxLength: 16 });
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      activityId += 1;
      // Times in the future of the model are of no use: what is as old as 0 ms must be old.
      const model = createModelRedis({ guards: guardsWithout(), now: Date.now });
      for (const step of steps) {
        const [real, modelled] = await both(step, model);
        expect(modelled, step.do).toEqual(real);
      }
      const counts = await stock.readCounts(activityId);
      const expected = countsOf(model);
      if (expected === null) expect(counts).toBeNull();
      else expect(counts).toMatchObject(expected);
    }),
    { numRuns: histories },
  );
});

it('a model whose release forgets the state of the hold is told from the real one', async () => {
  activityId += 1;
  const model = createModelRedis({ guards: guardsWithout('holdsState'), now: Date.now });
  const steps: RedisStep[] = [
    { do: 'load', generation: 1, held: [1], former: [] },
    { do: 'release', orders: [1] },
  ];
  for (const step of steps) await both(step, model);
  const [real, modelled] = await both({ do: 'release', orders: [1] }, model);
  expect(modelled).not.toEqual(real);
});
