import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  emptySnapshot,
  idOf,
  loadOver,
  openTestStock,
  snapshotOf,
  type TestStock,
} from './open-test-stock.ts';

let own: TestStock;
beforeAll(async () => {
  own = await openTestStock();
});
afterAll(() => own.close());

const sold = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...{ orderId: idOf(`o${index}`), userId: `u${index}`, quantity: 1, state: 'sold' as const },
  }));
const reserve = (activityId: number) =>
  own.stock.reserve({
    ...{ activityId, generation: 1, stockRunId: own.runIdOf(activityId) },
    ...{ orderId: idOf('late'), userId: 'late', quantity: 1 },
  });

it('all keys of an activity go, at once and however often, and no other activity is touched', async () => {
  await loadOver(own.stock, snapshotOf(1, 1, 10, sold(500)));
  await loadOver(own.stock, emptySnapshot(2, 10));
  expect(await own.keysOf(1)).toHaveLength(7);
  await own.stock.forget(1);
  expect(await own.keysOf(1)).toEqual([]);
  await own.stock.forget(1);
  expect(await reserve(1)).toEqual({ kind: 'not_ready' });
  expect(await own.stock.setCapacity(1, 2, 20)).toMatchObject({ kind: 'not_ready' });
  expect(await own.keysOf(1)).toEqual([]);
  expect(await reserve(2)).toMatchObject({ kind: 'reserved' });
});

it('a load that was on its way when the activity was forgotten is refused; without its token it would be there again', async () => {
  await loadOver(own.stock, emptySnapshot(3, 10));
  const replaces = await own.stock.readLoadToken(3);
  await own.stock.forget(3);
  await expect(own.stock.load(emptySnapshot(3, 10, 2), replaces)).rejects.toThrow('loaded by somebody else');
  expect((await own.keysOf(3)).filter((key) => !key.includes(':load:'))).toEqual([]);
  await own.stock.load(emptySnapshot(3, 10, 2), '');
  expect(await own.stock.readLoad(3)).toMatchObject({ generation: 2 });
});
