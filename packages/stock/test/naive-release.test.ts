import { afterAll, beforeAll, expect, it } from 'vitest';
import { emptySnapshot, loadOver, openTestStock, type TestStock } from './open-test-stock.ts';

let own: TestStock;

beforeAll(async () => {
  own = await openTestStock();
});
afterAll(() => own.close());

/** The release most systems start with: right once, wrong when a message comes twice. */
async function releaseNaively(activityId: number, userId: string, quantity: number): Promise<void> {
  await own.redis.incrby(`activity:{${activityId}}:stock`, quantity);
  await own.redis.srem(`activity:{${activityId}}:users`, userId);
}

it('negative control: INCRBY and SREM alone invent stock and free the next order under replay', async () => {
  await loadOver(own.stock, emptySnapshot(1, 10));
  const reserve = (orderId: string) =>
    own.stock.reserve({
      activityId: 1,
      generation: 1,
      stockRunId: own.runIdOf(1),
      orderId,
      userId: 'ann',
      quantity: 2,
    });
  await reserve('o1');
  for (let delivery = 0; delivery < 3; delivery += 1) await releaseNaively(1, 'ann', 2);
  expect(await own.redis.get('activity:{1}:stock')).toBe('14');

  await loadOver(own.stock, emptySnapshot(2, 10));
  await own.stock.reserve({
    activityId: 2,
    generation: 1,
    stockRunId: own.runIdOf(2),
    orderId: 'o1',
    userId: 'ann',
    quantity: 2,
  });
  for (let delivery = 0; delivery < 3; delivery += 1) await own.stock.release(2, ['o1']);
  expect(await own.redis.get('activity:{2}:stock')).toBe('10');
});
