import { createActivityBody } from '@lapse/contracts';
import { migrate, type OrderRepository, openOrderRepository } from '@lapse/order-repository';
import { createLogger } from '@lapse/runtime';
import { createTestDatabase, queryDatabase, type TestDatabase } from '@lapse/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { guardsWithout } from '../src/guards.ts';
import { createModelDatabase, type ModelDatabase } from '../src/model-database.ts';
import { readModelState, readRealState } from './database-state.ts';
import { databaseStep, type NewOrderStep } from './history.ts';
import { type Pair, playStep } from './play-database-step.ts';

const histories = 60;
const capacity = 4;
const tables = [
  'orders',
  'order_transition',
  'effect',
  'message_outbox',
  'notification',
  'payment',
  'payment_attempt',
  'idempotency_key',
];

let database: TestDatabase;
let real: OrderRepository;

beforeAll(async () => {
  database = await createTestDatabase();
  const log = createLogger('simulation', 'silent');
  await migrate({ url: database.url }, log);
  real = await openOrderRepository({ url: database.url, poolMax: 2, queryTimeoutMs: 10_000 }, log);
});
afterAll(async () => {
  await real.close();
  await database.drop();
});

it('any short history is answered, and ends, on the modelled MySQL as it does on the real one', async () => {
  const history = fc.array(databaseStep, { minLength: 1, maxLength: 14 });
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      const pair = await openPair();
      for (const step of steps) {
        const [fromReal, fromModel] = await playStep(pair, step);
        expect(fromModel, JSON.stringify(step)).toEqual(fromReal);
      }
      expect(readModelState(pair)).toEqual(await readRealState(database.url, pair));
    }),
    { numRuns: histories },
  );
});

it('a model without the conditional decrement is told from the real one', async () => {
  const pair = await openPair(
    createModelDatabase({ guards: guardsWithout('conditionalDecrement'), now: Date.now }),
  );
  const orders = [0, 1, 2].map((user): NewOrderStep => {
    return { order: user, user, key: user, quantity: 2, due: 'later', isStale: false };
  });
  const [fromReal, fromModel] = await playStep(pair, { do: 'create', orders });
  expect(fromModel).not.toEqual(fromReal);
});

/** Both empty, with one activity. */
async function openPair(
  model: ModelDatabase = createModelDatabase({ guards: guardsWithout(), now: Date.now }),
): Promise<Pair> {
  for (const table of tables) await queryDatabase(database.url, `DELETE FROM ${table}`);
  const body = createActivityBody.parse({
    name: 'A show',
    capacity,
    priceMinor: 100,
    currency: 'CNY',
    quantityMax: 2,
    latePaymentPolicy: 'reacquire',
  });
  const activity = await real.createActivity(body);
  model.createActivity(body);
  const own = model.tables.activities.get(1);
  if (!own) throw new Error('the model created no activity');
  // The real one counts on from history to history.
  model.tables.activities.clear();
  model.tables.activities.set(activity.id, { ...own, id: activity.id });
  return { real, model, activity, orderIds: new Map(), attempts: new Map(), startMs: Date.now() };
}
