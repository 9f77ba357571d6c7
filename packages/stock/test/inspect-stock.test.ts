import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { emptySnapshot, openTestStock, type TestStock } from './open-test-stock.ts';

let own: TestStock;
let activityId = 0;
let keys = '';

beforeAll(async () => {
  own = await openTestStock();
});
afterAll(() => own.close());
beforeEach(async () => {
  activityId += 1;
  keys = `activity:{${activityId}}`;
  await own.stock.load(emptySnapshot(activityId, 100));
});

const reserve = (orderId: string, quantity = 1) =>
  own.stock.reserve({
    activityId,
    generation: 1,
    stockRunId: own.runIdOf(activityId),
    orderId,
    userId: `user of ${orderId}`,
    quantity,
  });

/** Until the sums are of one moment: a hold that moved in the very millisecond of the look leaves them open. */
async function inspect() {
  for (;;) {
    const image = await own.stock.inspect(activityId);
    if (image.kind !== 'loaded' || image.unitsOff !== null) return image;
  }
}

it('shows every hold, user and number of an activity, and that its sums are right', async () => {
  await reserve('held', 3);
  await reserve('sold', 2);
  await reserve('gone', 1);
  await own.stock.confirm(activityId, ['sold']);
  await own.stock.release(activityId, ['gone', 'never known']);
  const image = await inspect();
  expect(image).toMatchObject({
    kind: 'loaded',
    generation: 1,
    stock: 95,
    capacity: 100,
    capacityVersion: 1,
  });
  if (image.kind !== 'loaded') throw new Error('it is loaded');
  expect(image).toMatchObject({ unitsOff: 0, usersOff: 0, runId: own.runIdOf(activityId) });
  expect([...image.users].toSorted()).toEqual(['user of held', 'user of sold']);
  expect(image.holds.get('held')).toMatchObject({ state: 'held', quantity: 3, userId: 'user of held' });
  expect(image.holds.get('sold')).toMatchObject({ state: 'sold', quantity: 2 });
  expect(image.holds.get('gone')).toMatchObject({ state: 'released', quantity: 1, userId: '' });
  expect(image.holds.get('never known')).toMatchObject({ state: 'released', heldFromMs: null });
});

it('the sums are exact in the middle of a rush, and a counter that is off by two shows as two', async () => {
  await own.stock.load(emptySnapshot(activityId, 5_000));
  let stop = false;
  const rush = async (name: string) => {
    for (let n = 0; !stop; n += 1) {
      await reserve(`${name}-${n}`, 2);
      if (n % 3 === 0) await own.stock.release(activityId, [`${name}-${n}`]);
      if (n % 3 === 1) await own.stock.confirm(activityId, [`${name}-${n}`]);
    }
  };
  const rushes = ['a', 'b', 'c', 'd'].map(rush);
  for (let look = 0; look < 20; look += 1) {
    expect(await inspect()).toMatchObject({ unitsOff: 0, usersOff: 0 });
  }
  await own.redis.incrby(`${keys}:stock`, 2);
  expect(await inspect()).toMatchObject({ unitsOff: 2, usersOff: 0 });
  stop = true;
  await Promise.all(rushes);
});

it.each([
  ['a counter below zero', () => own.redis.set(`${keys}:stock`, '-3')],
  ['a counter that is no number', () => own.redis.set(`${keys}:stock`, 'many')],
  ['a capacity that is gone', () => own.redis.del(`${keys}:capacity`)],
  ['a hold that no script wrote', () => own.redis.hset(`${keys}:holds`, 'o1', 'x:1')],
  ['users that are no set', () => own.redis.set(`${keys}:users`, 'ann')],
])('%s is unreadable, not an error', async (_what, damage) => {
  await damage();
  expect(await own.stock.inspect(activityId)).toMatchObject({ kind: 'unreadable' });
});

it('an activity that is not loaded is told apart', async () => {
  expect(await own.stock.inspect(99_999)).toEqual({ kind: 'not_loaded' });
});
