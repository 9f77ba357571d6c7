import { log, openActivity, openShop, placeOrders, type Shop } from '@lapse/test-shop';
import { checkInvariants, describeVerdict } from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ArchiveFinishedParts, archiveFinished } from '../src/archive-finished.ts';
import { ordersLeft } from '../src/metrics.ts';
import { stopsAt } from './stop-at.ts';

const dayMs = 86_400_000;
let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

const run = (retainOrdersMs: number | null) =>
  archiveFinished({
    orders: shop.orders,
    log,
    config: { retainOrdersMs, retainSalesMs: null, retainArchiveMs: null, retainActionsMs: null },
  });
const live = () => new AbortController().signal;
const count = (table: string) => shop.count(`SELECT COUNT(*) FROM ${table}`);

/** Closed, their places back in both stores, their notices sent; and all of that three days ago. */
async function endedOrders(orders: number): Promise<void> {
  const activity = await openActivity(shop, 2_000);
  const { ids } = await placeOrders(shop, activity, orders, { remindInMs: -2, expireInMs: -1 });
  const { effects } = await shop.orders.closeExpired(ids, { cause: 'message' });
  await shop.stock.release(activity.id, ids);
  await shop.orders.markEffectsApplied(effects.map(({ id }) => id));
  while ((await shop.orders.expandClosedNotices(100)) > 0);
  await shop.query("UPDATE notification SET state = 'SENT', sent_at = NOW(3)");
  await shop.query(
    'UPDATE message_outbox SET sent_at = NOW(3) - INTERVAL 4 DAY, due_at = sent_at, swept_at = sent_at',
  );
  await shop.query(`UPDATE orders SET idempotency_key = NULL, created_at = created_at - INTERVAL 3 DAY,
    remind_at = remind_at - INTERVAL 3 DAY, expires_at = expires_at - INTERVAL 3 DAY, closed_at = closed_at - INTERVAL 3 DAY`);
  await shop.query('UPDATE order_transition SET at = at - INTERVAL 3 DAY');
}

test('without a policy nothing is taken away, with one all of it, in one run of many batches', async () => {
  await endedOrders(730);
  expect(await run(null)(live())).toBe(0);
  expect(await run(4 * dayMs)(live())).toBe(0);
  expect([await count('orders'), await count('order_archive')]).toEqual([730, 0]);

  const stop = new AbortController();
  stop.abort();
  expect(await run(2 * dayMs)(stop.signal)).toBe(0);

  expect(await run(2 * dayMs)(live())).toBe(730);
  for (const table of ['orders', 'order_transition', 'notification', 'message_outbox']) {
    expect([table, await count(table)]).toEqual([table, 0]);
  }
  expect(await count('order_archive')).toBe(730);
  expect(await run(2 * dayMs)(live())).toBe(0);
  const verdict = await checkInvariants({
    mysqlUrl: shop.databaseUrl,
    redisUrl: shop.redisUrl,
    atRest: true,
  });
  expect(verdict.failed, describeVerdict(verdict)).toEqual([]);
  expect(verdict.counts.units.credited).toBe(730);
});

/** The stores say what they are told to here: what is asked of them, run after run, is what counts. */
function scripted(orders: Partial<ArchiveFinishedParts['orders']>) {
  const nothing = { messages: 0, parked: 0, findings: 0, actions: 0, archived: 0 };
  const config = {
    retainOrdersMs: dayMs,
    retainSalesMs: null,
    retainArchiveMs: dayMs,
    retainActionsMs: null,
  };
  return archiveFinished({
    orders: {
      archiveOrders: async () => ({ archived: 0, left: 0, isHeldUp: false, next: null }),
      forgetFinished: async () => nothing,
      forgetPayments: async () => ({ payments: 0, next: null }),
      ...orders,
    },
    log,
    config,
  });
}

const leftNow = async () =>
  (await ordersLeft.get()).values.find(({ labels }) => labels.kind === 'unsold')?.value;

test('orders that must stay keep no run from what comes after them, and are counted once a walk', async () => {
  const all = { TIMEOUT_CLOSED: 50_000, CANCELLED: 300, ABORTED: 100 };
  const asked: string[] = [];
  const task = scripted({
    archiveOrders: async ({ status, after, limit }) => {
      const from = Number(after?.id ?? 0);
      asked.push(`${status} ${from}`);
      const left = Math.min(limit, all[status] - from);
      const isLast = from + left === all[status];
      const next = isLast ? null : { expiresAt: new Date(0), id: String(from + left) };
      return { archived: 0, left, isHeldUp: false, next };
    },
  });
  await task(live());
  expect([asked.length, asked.at(-1)]).toEqual([200, 'TIMEOUT_CLOSED 39800']);
  await task(live());
  expect(asked.slice(200, 201)).toEqual(['TIMEOUT_CLOSED 40000']);
  expect(asked.slice(-3)).toEqual(['CANCELLED 0', 'CANCELLED 200', 'ABORTED 0']);
  expect(await leftNow()).toBe(50_400);
  await task(live());
  expect(asked[253]).toBe('TIMEOUT_CLOSED 0');
});

test('payments that must stay keep no run from what comes after them', async () => {
  const asked: number[] = [];
  const task = scripted({
    forgetPayments: async ({ after, olderThanMs }) => {
      expect(olderThanMs).toBe(2 * dayMs);
      asked.push(after?.id ?? 0);
      const id = asked.length % 30;
      return { payments: 0, next: id === 0 ? null : { state: 'REFUNDED', receivedAt: new Date(0), id } };
    },
  });
  for (let run = 0; run < 3; run += 1) await task(live());
  expect(asked).toEqual([...Array(30).keys(), ...Array(20).keys()]);
});

test('while old effects hold all of them up it is asked once a run, and the walk stays where it is', async () => {
  let asked = 0;
  const task = scripted({
    archiveOrders: async ({ status, after }) => {
      expect([status, after]).toEqual(['TIMEOUT_CLOSED', null]);
      asked += 1;
      return { archived: 0, left: 200, isHeldUp: true, next: null };
    },
  });
  await task(live());
  await task(live());
  expect(asked).toBe(2);
});

test('what fails of it stops nothing else, and is thrown at the end', async () => {
  const cause = new Error('a query that took too long');
  const done: string[] = [];
  const task = scripted({
    archiveOrders: async () => Promise.reject(cause),
    forgetFinished: async () => {
      done.push('forgetFinished');
      throw new Error('another');
    },
    forgetPayments: async () => {
      done.push('forgetPayments');
      return { payments: 0, next: null };
    },
  });
  await expect(task(live())).rejects.toMatchObject({ cause });
  expect(done).toEqual(['forgetFinished', 'forgetPayments']);
});

test('a wish to stop is heard after each batch and page', async () => {
  const full = { messages: 500, parked: 0, findings: 0, actions: 0, archived: 0 };
  const run = stopsAt((ask) =>
    scripted({
      forgetFinished: async () => {
        ask('forgetFinished');
        return full;
      },
      forgetPayments: async () => {
        ask('forgetPayments');
        return { payments: 0, next: { state: 'REFUNDED', receivedAt: new Date(0), id: 1 } };
      },
    }),
  );
  expect(await run('forgetFinished')).toEqual(['forgetFinished']);
  expect((await run('forgetPayments')).filter((what) => what === 'forgetPayments')).toHaveLength(1);
});
