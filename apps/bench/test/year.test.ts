import { checkInvariants } from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withLapseStores } from '../src/lapse-stores.ts';
import { openStores, type RunStores } from '../src/open-stores.ts';
import { fillYear } from '../src/year/fill-year.ts';
import { measureClose } from '../src/year/measure-close.ts';
import { forgetArchive, retainYear } from '../src/year/retain-year.ts';
import { openTestBench, type TestBench } from './bench-services.ts';

const orders = 20_000;
/** MySQL makes some hundred thousand rows, and takes them away again. */
const timeout = 120_000;

let bench: TestBench;
let stores: RunStores;
beforeAll(async () => {
  bench = await openTestBench();
  stores = await openStores(bench.options('year', orders).services);
});
afterAll(async () => {
  await stores?.close();
  await bench?.close();
});

const noCpu = () => ({ mysqlUs: 0, nodeUs: 0 });

async function judge() {
  const { mysqlUrl, redisUrl } = stores;
  const { failed, counts } = await checkInvariants({ mysqlUrl, redisUrl, atRest: false });
  expect(failed).toEqual([]);
  return counts;
}

test('a year is as Lapse leaves it, before and after it is archived: the oracle finds nothing', {
  timeout,
}, async () => {
  expect(await fillYear(stores.mysql, orders, () => undefined)).toEqual({ sales: 2, orders });
  const sold = (orders / 20) * 7;
  const whole = await judge();
  expect(whole.orders).toMatchObject({
    PAID: sold,
    CANCELLED: orders / 20,
    TIMEOUT_CLOSED: (orders / 20) * 12,
  });
  await measureClose(stores, 100, noCpu);
  expect((await judge()).orders).toEqual(whole.orders);

  const archived = await withLapseStores(stores, ({ repository }) => retainYear(repository, 90));
  expect(archived.orders).toBe(orders);
  const counts = await judge();
  expect(counts.orders).toMatchObject({ PAID: sold, CANCELLED: 0, TIMEOUT_CLOSED: 0 });
  expect(counts.units).toEqual(whole.units);
  await withLapseStores(stores, ({ repository }) =>
    forgetArchive({ repository, mysql: stores.mysql }, { keptDays: 90, archiveDays: 35 }),
  );
  expect((await judge()).units).toMatchObject({ paid: whole.units.paid, credited: 0 });
});
