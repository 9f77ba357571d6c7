import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { emptySnapshot, idOf, loadOver, openTestStock, type TestStock } from './open-test-stock.ts';

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
  await loadOver(own.stock, emptySnapshot(activityId, 100));
});

const reserve = (name: string, quantity = 1) =>
  own.stock.reserve({
    activityId,
    generation: 1,
    stockRunId: own.runIdOf(activityId),
    orderId: idOf(name),
    userId: `user of ${name}`,
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
  await own.stock.confirm(activityId, [idOf('sold')]);
  await own.stock.release(activityId, ['gone', 'never known'].map(idOf));
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
  expect(image.holds.get(idOf('held'))).toMatchObject({ state: 'held', quantity: 3, userId: 'user of held' });
  expect(image.holds.get(idOf('sold'))).toMatchObject({ state: 'sold', quantity: 2 });
  expect(image.holds.get(idOf('gone'))).toMatchObject({ state: 'released', quantity: 1, userId: '' });
  expect(image.holds.get(idOf('never known'))).toMatchObject({ state: 'released', heldFromMs: null });
});

it('the sums are exact in the middle of a rush, and a counter that is off by two shows as two', async () => {
  await loadOver(own.stock, emptySnapshot(activityId, 5_000));
  let stop = false;
  const rush = async (name: string) => {
    for (let n = 0; !stop; n += 1) {
      await reserve(`${name}-${n}`, 2);
      if (n % 3 === 0) await own.stock.release(activityId, [idOf(`${name}-${n}`)]);
      if (n % 3 === 1) await own.stock.confirm(activityId, [idOf(`${name}-${n}`)]);
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
  ['a hold that no script wrote', () => own.redis.hset(`${keys}:holds`, idOf('o1'), 'x:1')],
  [
    'a hold of what is no order id',
    () => own.redis.hset(`${keys}:holds`, idOf('o1').toUpperCase(), `h:1:${Date.now()}:ann`),
  ],
  ['users that are no set', () => own.redis.set(`${keys}:users`, 'ann')],
  [
    'a map of buyers that is no text',
    async () => {
      await own.redis.del(`${keys}:seen`);
      await own.redis.rpush(`${keys}:seen`, 'ann');
    },
  ],
])('%s is unreadable, not an error', async (_what, damage) => {
  await damage();
  expect(await own.stock.inspect(activityId)).toMatchObject({ kind: 'unreadable' });
});

it('names the users whom the map of buyers does not know; without a map there is nobody to name', async () => {
  await reserve('held');
  await reserve('lost');
  expect(await inspect()).toMatchObject({ unseen: [] });
  await own.redis.setbit(`${keys}:seen`, crc32('user of lost') % 8_192, 0);
  expect(await inspect()).toMatchObject({ unseen: ['user of lost'] });
  await own.redis.set(`${keys}:seen`, Buffer.alloc(5 * 1_048_576));
  expect(await inspect()).toMatchObject({ unseen: expect.arrayContaining(['user of held', 'user of lost']) });
  await own.redis.del(`${keys}:seen`);
  expect(await inspect()).toMatchObject({ unseen: [] });
});

it('an activity that is not loaded is told apart', async () => {
  expect(await own.stock.inspect(99_999)).toEqual({ kind: 'not_loaded' });
});
