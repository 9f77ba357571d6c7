import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OrderRepository } from '../src/index.ts';
import { createActivity, type Fixture, newOrder, noAnswer, openFixture, outcomesOf } from './fixture.ts';

let fixture: Fixture;
let repository: OrderRepository;
beforeAll(async () => {
  fixture = await openFixture();
  repository = await fixture.openAnother({ shopEvents: true });
});
afterAll(() => fixture.close());

const asked = { dryRun: false, actor: 'boss', reason: 'the column is wide enough now' };
const page = { limit: 100 };

test('an event for the shop that could not be written in all its tries is listed, redriven once, and then written', async () => {
  const activity = await createActivity(repository);
  const order = newOrder(activity);
  await repository.createOrders([order]);
  expect(await repository.listLeftEffects(page)).toEqual([]);
  await fixture.query("UPDATE effect SET attempts = 19 WHERE kind = 'shop_event'");
  expect(await repository.listLeftEffects(page)).toEqual([]);
  const [young] = await fixture.query('SELECT LOWER(HEX(id)) AS id FROM effect');
  const id = String(young?.id).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  expect(await outcomesOf(repository.redriveEffects([id], asked, noAnswer))).toEqual([
    { id, changed: false, kind: 'not_left' },
  ]);

  await fixture.query("UPDATE effect SET attempts = 20 WHERE kind = 'shop_event'");
  // Negative control: by itself it is never tried again.
  expect(await repository.expandShopEvents(10)).toBe(0);
  expect(await repository.listLeftEffects(page)).toMatchObject([
    { id, kind: 'shop_event', orders: 1, attempts: 20 },
  ]);
  expect(await repository.listLeftEffects({ ...page, afterId: id })).toEqual([]);

  const dry = { ...asked, dryRun: true };
  expect(await outcomesOf(repository.redriveEffects([id], dry, noAnswer))).toEqual([
    { id, changed: false, kind: 'redriven', effect: 'shop_event', orders: 1 },
  ]);
  const both = await Promise.all(
    [1, 2].map(() => outcomesOf(repository.redriveEffects([id], asked, noAnswer))),
  );
  expect(both.flat().filter(({ changed }) => changed)).toHaveLength(1);
  expect(await repository.expandShopEvents(10)).toBe(1);
  expect(await fixture.query('SELECT type FROM shop_event')).toEqual([{ type: 'created' }]);
  expect(await outcomesOf(repository.redriveEffects([id], asked, noAnswer))).toEqual([
    { id, changed: false, kind: 'not_found' },
  ]);
});
