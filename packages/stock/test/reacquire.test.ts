import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { emptySnapshot, loadOver, openTestStock, type TestStock } from './open-test-stock.ts';

let own: TestStock;
let activityId = 0;

beforeAll(async () => {
  own = await openTestStock();
});
afterAll(() => own.close());
beforeEach(async () => {
  activityId += 1;
  await loadOver(own.stock, emptySnapshot(activityId, 10));
});

const order = (orderId: string, quantity = 2, userId = `user of ${orderId}`) => ({
  orderId,
  userId,
  quantity,
});
const reserve = (orderId: string, quantity = 2, userId = `user of ${orderId}`) =>
  own.stock.reserve({
    activityId,
    generation: 1,
    stockRunId: own.runIdOf(activityId),
    ...order(orderId, quantity, userId),
  });
const reacquire = (...orders: ReturnType<typeof order>[]) => own.stock.reacquire(activityId, orders);
const counts = () => own.stock.readCounts(activityId);
const done = { kind: 'done', notYet: [] };

it('case 4: an order that was released takes its places and its user again, once, however often it is sent', async () => {
  await reserve('o1');
  await own.stock.release(activityId, ['o1']);
  for (let time = 0; time < 3; time += 1) expect(await reacquire(order('o1'))).toEqual(done);
  expect(await counts()).toMatchObject({ stock: 8, held: 0, sold: 2, users: 1 });
  // The release of its close comes once more: a paid order gives nothing back.
  expect(await own.stock.release(activityId, ['o1'])).toEqual({ kind: 'done', units: [0] });
  expect(await reserve('o2', 1, 'user of o1')).toEqual({ kind: 'user_holds' });
});

it('an order whose marker is forgotten, or that Redis never knew, takes its places all the same', async () => {
  expect(await reacquire(order('never seen'))).toEqual(done);
  expect(await counts()).toMatchObject({ stock: 8, sold: 2, users: 1 });
});

it('an order whose release has not come through yet is sold from its hold: the stock stays, the release finds it sold', async () => {
  await reserve('o1');
  expect(await reacquire(order('o1'))).toEqual(done);
  expect(await own.stock.release(activityId, ['o1'])).toEqual({ kind: 'done', units: [0] });
  expect(await counts()).toMatchObject({ stock: 8, held: 0, sold: 2, users: 1 });
});

it('without enough free units, or while its user is in another order, it changes nothing, and others go on', async () => {
  await reserve('other of ann', 7, 'ann');
  const answer = await reacquire(order('o1', 4), order('o2', 1), order('o3', 1, 'ann'), order('o4', 2));
  expect(answer).toEqual({ kind: 'done', notYet: ['o1', 'o3'] });
  expect(await counts()).toMatchObject({ stock: 0, held: 7, sold: 3, users: 3 });
  await own.stock.release(activityId, ['other of ann']);
  expect(await reacquire(order('o1', 4), order('o3', 1, 'ann'))).toEqual(done);
  expect(await counts()).toMatchObject({ stock: 2, held: 0, sold: 8, users: 4 });
});

it('one user twice in one call is sold once; one order twice is the same order', async () => {
  const answer = await reacquire(order('o1', 1, 'ann'), order('o2', 1, 'ann'), order('o1', 1, 'ann'));
  expect(answer).toEqual({ kind: 'done', notYet: ['o2'] });
  expect(await counts()).toMatchObject({ stock: 9, sold: 1, users: 1 });
});

it('a buyer whom the load did not know any more is known again: their refusals are looked up, never guessed', async () => {
  await loadOver(own.stock, { ...emptySnapshot(activityId, 10), formerBuyers: [] });
  expect(await reacquire(order(randomUUID(), 1, 'ann'), order(randomUUID(), 9, 'bob'))).toEqual(done);
  expect(await own.stock.inspect(activityId)).toMatchObject({ users: new Set(['ann', 'bob']), unseen: [] });
});

it('an activity that is not loaded is told apart, and nothing is written', async () => {
  expect(await own.stock.reacquire(9_999, [order('o1')])).toEqual({ kind: 'not_ready' });
  expect(await own.keysOf(9999)).toEqual([]);
});
