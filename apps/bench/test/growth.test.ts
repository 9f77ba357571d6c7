import { checkInvariants } from '@lapse/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runBurst } from '../src/burst/run-burst.ts';
import { closing } from '../src/close-burst/closing.ts';
import { lapse as closer } from '../src/close-burst/contenders/lapse.ts';
import { lapse as producer } from '../src/create/contenders/lapse.ts';
import { runCreate } from '../src/create/run-create.ts';
import { openStores } from '../src/open-stores.ts';
import { preparePending } from '../src/prepare-pending.ts';
import { figuresOf, openTestBench, type TestBench } from './bench-services.ts';

const pending = 1_000;
const orders = 200;
/** A busy machine needs several tries to be ready by the deadline. */
const timeout = 120_000;

let bench: TestBench;

beforeAll(async () => {
  bench = await openTestBench();
});
afterAll(() => bench.close());

test('the orders that lie beside are as Lapse would have written them: the oracle finds nothing', async () => {
  const stores = await openStores(bench.options('pending', pending).services);
  try {
    await preparePending(stores, pending);
    const { mysqlUrl, redisUrl } = stores;
    const { failed, counts } = await checkInvariants({ mysqlUrl, redisUrl, atRest: true });
    expect(failed).toEqual([]);
    expect(counts.orders.PENDING).toBe(pending);
  } finally {
    await stores.close();
  }
});

describe(`beside ${pending} orders of another activity`, { timeout }, () => {
  test('orders of the sale close, and are judged by themselves', async () => {
    const outcome = await runBurst(closer, { task: closing, pending }, bench.options('close', orders));
    expect(figuresOf(outcome)).toMatchObject({ orders, early: 0, latenessMs: { count: orders } });
  });

  test('orders are placed over HTTP, and are judged by themselves', async () => {
    const manner = { connections: 16, isSoldOut: false, pending };
    const outcome = await runCreate(producer, manner, bench.options('create', orders));
    expect(figuresOf(outcome)).toMatchObject({ orders, responseMs: { count: orders } });
  });
});
