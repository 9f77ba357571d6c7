import { createActivityBody } from '@lapse/contracts';
import { openActivity } from '@lapse/operations';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { log, openTestApi, openTestStores, type TestApi, type TestStores } from './test-api.ts';

let stores: TestStores;
let api: TestApi;
beforeAll(async () => {
  stores = await openTestStores();
  api = await openTestApi(stores);
});
afterAll(async () => {
  await api?.close();
  await stores?.close();
});

it('a first load that comes after a sweeper has loaded and buyers have bought puts nothing back', async () => {
  const stock = {
    load: async (...[snapshot, replaces]: Parameters<typeof api.stock.load>) => {
      // This process stands still here. The sweeper finds the activity without its stock, and a buyer buys.
      await api.orders.rebuildSnapshot(snapshot.activityId, ({ available, ...found }) =>
        api.stock.load({ ...found, stock: available }, ''),
      );
      expect((await api.placeOrder(snapshot.activityId, 'ann', 'k')).statusCode).toBe(201);
      return api.stock.load(snapshot, replaces);
    },
  };
  const body = createActivityBody.parse({ name: 'A show', capacity: 5, priceMinor: 100, currency: 'CNY' });

  const opened = await openActivity({ orders: api.orders, stock, log }, body, { actor: 'boss', reason: 'x' });

  if (opened.kind !== 'done') throw new Error('it was opened');
  expect(await api.stock.readCounts(opened.result.id)).toMatchObject({ stock: 4, held: 1, generation: 2 });
});
