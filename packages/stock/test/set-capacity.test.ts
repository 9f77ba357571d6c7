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

const reserve = (orderId: string, quantity: number) =>
  own.stock.reserve({
    activityId,
    generation: 1,
    stockRunId: own.runIdOf(activityId),
    orderId,
    userId: orderId,
    quantity,
  });
const setCapacity = (version: number, capacity: number) =>
  own.stock.setCapacity(activityId, version, capacity);
const recorded = () => own.redis.get(`activity:{${activityId}}:capacity`);
const free = async () => (await own.stock.readCounts(activityId))?.stock;

it('moves the free units by the difference, once per version, while orders hold theirs', async () => {
  await reserve('o1', 4);
  for (let time = 0; time < 3; time += 1) expect(await setCapacity(2, 25)).toEqual({ kind: 'done' });
  expect(await free()).toBe(21);
  expect(await setCapacity(3, 6)).toEqual({ kind: 'done' });
  expect(await free()).toBe(2);
  expect(await recorded()).toBe('3:6');
});

it('an older change that arrives after a newer one is over', async () => {
  expect(await setCapacity(3, 30)).toEqual({ kind: 'done' });
  expect(await setCapacity(2, 5)).toEqual({ kind: 'done' });
  expect(await free()).toBe(30);
  expect(await recorded()).toBe('3:30');
});

it('below what is held it takes what is free, sells nothing more, and is done once enough came back', async () => {
  await reserve('o1', 3);
  await reserve('o2', 4);
  expect(await setCapacity(2, 5)).toEqual({ kind: 'not_yet' });
  expect(await recorded()).toBe('1:7');
  expect(await reserve('o3', 1)).toEqual({ kind: 'sold_out_newcomer' });
  await own.stock.release(activityId, ['o1']);
  expect(await setCapacity(2, 5)).toEqual({ kind: 'done' });
  expect(await free()).toBe(1);
  expect(await recorded()).toBe('2:5');
});

it('with nothing free at all it waits, and changes nothing', async () => {
  await reserve('o1', 10);
  expect(await setCapacity(2, 4)).toEqual({ kind: 'not_yet' });
  expect(await recorded()).toBe('1:10');
  await own.stock.release(activityId, ['o1']);
  expect(await setCapacity(2, 4)).toEqual({ kind: 'done' });
  expect(await free()).toBe(4);
});

it('a load brings the capacity and its version along: a change that it contains is not made twice', async () => {
  await loadOver(own.stock, { ...emptySnapshot(activityId, 40, 2), capacityVersion: 5 });
  expect(await setCapacity(5, 40)).toEqual({ kind: 'done' });
  expect(await setCapacity(4, 10)).toEqual({ kind: 'done' });
  expect(await free()).toBe(40);
});

it('is refused while the activity is not loaded, or is from a time before capacities were recorded', async () => {
  expect(await own.stock.setCapacity(9_999, 2, 5)).toEqual({ kind: 'not_ready' });
  await own.redis.del(`activity:{${activityId}}:capacity`);
  expect(await setCapacity(2, 5)).toEqual({ kind: 'not_ready' });
  expect(await free()).toBe(10);
});
