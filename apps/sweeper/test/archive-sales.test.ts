import type { Activity } from '@lapse/order-repository';
import { log, openActivity, openShop, placeOrders, type Shop } from '@lapse/test-shop';
import { checkInvariants, describeVerdict } from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { archiveFinished } from '../src/archive-finished.ts';
import { type ArchiveSalesParts, archiveSales } from '../src/archive-sales.ts';
import { auditStock } from '../src/audit-stock.ts';
import { loadStock } from '../src/load-stock.ts';
import { ordersLeft } from '../src/metrics.ts';
import { releaseOrphans } from '../src/release-orphans.ts';
import { stopsAt } from './stop-at.ts';

const dayMs = 86_400_000;
let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

const live = () => new AbortController().signal;
const run = (retainSalesMs: number | null, stock: Pick<Shop['stock'], 'forget'> = shop.stock) =>
  archiveSales({ orders: shop.orders, stock, log, config: { retainSalesMs } })(live());
const keysOf = (id: number) => shop.redisCommand('keys', `activity:{${id}}:*`) as Promise<string[]>;

/** Sold, closed unpaid, everybody told; and all of that three days ago. */
async function oldSale(paid: number, closed: number): Promise<Activity> {
  const activity = await openActivity(shop, paid + closed + 5);
  const sold = await placeOrders(shop, activity, paid, { remindInMs: -2, expireInMs: -1 });
  for (const id of sold.ids) {
    await shop.orders.recordPayment({
      ...{ eventId: `e ${id}`, type: 'payment.captured', paymentId: `p ${id}`, orderId: id },
      ...{ amountMinor: activity.priceMinor, currency: activity.currency, occurredAt: new Date() },
    });
  }
  await shop.stock.confirm(activity.id, sold.ids);
  const ended = await placeOrders(shop, activity, closed, { remindInMs: -2, expireInMs: -1 });
  await shop.orders.closeExpired(ended.ids, { cause: 'message' });
  await shop.stock.release(activity.id, ended.ids);
  while ((await shop.orders.expandClosedNotices(100)) > 0);
  await shop.query('DELETE FROM effect');
  await shop.query("UPDATE notification SET state = 'SENT', sent_at = NOW(3)");
  await shop.query(
    'UPDATE message_outbox SET sent_at = NOW(3) - INTERVAL 4 DAY, due_at = sent_at, swept_at = sent_at',
  );
  const earlier = (...columns: string[]) =>
    columns.map((column) => `${column} = ${column} - INTERVAL 3 DAY`).join(', ');
  await shop.query(
    `UPDATE orders SET idempotency_key = NULL,
       ${earlier('created_at', 'remind_at', 'expires_at', 'closed_at', 'paid_at')} WHERE activity_id = ?`,
    [activity.id],
  );
  await shop.query(`UPDATE order_transition SET ${earlier('at')} WHERE activity_id = ?`, [activity.id]);
  await shop.query(
    `UPDATE activity SET ${earlier('created_at')}, sale_ends_at = NOW(3) - INTERVAL 3 DAY WHERE id = ?`,
    [activity.id],
  );
  return activity;
}

async function expectBooksHold() {
  const verdict = await checkInvariants({
    mysqlUrl: shop.databaseUrl,
    redisUrl: shop.redisUrl,
    atRest: true,
  });
  expect(verdict.failed, describeVerdict(verdict)).toEqual([]);
  return verdict;
}

/** What looks after stock in a sweeper, each with a whole look. */
async function lookAfterStock(): Promise<void> {
  const config = {
    ...{ auditSecondLookMs: 10, auditBudgetMs: 20_000, auditEveryOrderRuns: 1 },
    ...{ orphansAfterMs: 1, markersKeptMs: 1 },
  };
  const parts = { orders: shop.orders, stock: shop.stock, log, config };
  expect(await loadStock(parts)(live())).toEqual([]);
  expect(await auditStock(parts)(live())).toBe(0);
  expect(await releaseOrphans(parts)(live())).toBe(0);
}

test('without a policy nothing goes, with one the whole sale: from MySQL, from Redis, and nothing brings it back', async () => {
  const { id } = await oldSale(230, 20);
  const other = await openActivity(shop, 10);
  expect(await run(null)).toEqual({ activities: 0, orders: 0 });
  expect(await run(4 * dayMs)).toEqual({ activities: 0, orders: 0 });
  expect(await keysOf(id)).toHaveLength(7);

  expect(await run(2 * dayMs)).toEqual({ activities: 1, orders: 230 });
  expect(await keysOf(id)).toEqual([]);
  const unsold = { orders: shop.orders, log };
  const config = {
    retainOrdersMs: 2 * dayMs,
    retainSalesMs: null,
    retainArchiveMs: null,
    retainActionsMs: null,
  };
  expect(await archiveFinished({ ...unsold, config })(live())).toBe(20);
  expect(await shop.count('SELECT COUNT(*) FROM orders')).toBe(0);
  expect(await shop.count('SELECT COUNT(*) FROM order_archive')).toBe(250);
  await lookAfterStock();
  expect(await keysOf(id)).toEqual([]);
  expect(await shop.stock.readLoad(other.id)).not.toBeNull();
  const { counts } = await expectBooksHold();
  expect(counts.orders.PAID).toBe(230);
  expect(await run(2 * dayMs)).toEqual({ activities: 0, orders: 0 });
});

test('a sweeper that dies after each step leaves the next one to another, and what was done is done once', async () => {
  const { id, generation } = await oldSale(10, 0);
  // Dead after MySQL has archived it: Redis is what it was, and nobody looks after it any more.
  await shop.orders.archiveActivities({ olderThanMs: 2 * dayMs, limit: 10, afterId: 0 });
  await lookAfterStock();
  expect(await keysOf(id)).toHaveLength(7);
  // Redis away, then dead after Redis has forgotten it, before that is noted.
  const away = { forget: () => Promise.reject(new Error('away')) };
  await expect(run(2 * dayMs, away)).rejects.toThrow('could not be archived whole');
  await shop.stock.forget(id);
  await lookAfterStock();
  const work = async () => ({
    stocks: (await shop.orders.readArchivedStocks({ limit: 10 })).map(({ activityId }) => activityId),
    sales: await shop.orders.readArchivedSales({ afterId: 0, limit: 10 }),
  });
  expect(await work()).toEqual({ stocks: [id], sales: [] });
  // The policy was taken back meanwhile: what was begun is ended, and no order goes.
  expect(await run(null)).toEqual({ activities: 0, orders: 0 });
  expect(await work()).toEqual({ stocks: [], sales: [id] });
  await expectBooksHold();
  expect(await run(2 * dayMs)).toEqual({ activities: 0, orders: 10 });
  expect(await shop.orders.readActivity(id)).toMatchObject({ generation: generation + 2, stockRunId: null });
  await expectBooksHold();
});

test('an activity that cannot be archived keeps no other, nor what is begun, and is told of at the end', async () => {
  const [bad, good] = [await oldSale(1, 0), await oldSale(1, 0)];
  await shop.query(
    `CREATE TRIGGER refuse BEFORE UPDATE ON activity FOR EACH ROW
     IF NEW.id = ${bad.id} AND NEW.archived_at IS NOT NULL THEN SIGNAL SQLSTATE '45000'; END IF`,
  );
  await expect(run(2 * dayMs)).rejects.toMatchObject({
    cause: { message: `activity ${bad.id} could not be archived` },
  });
  expect([await keysOf(good.id), (await keysOf(bad.id)).length]).toEqual([[], 7]);
  expect(await shop.count(`SELECT COUNT(*) FROM orders WHERE activity_id = ${good.id}`)).toBe(0);
  await shop.query('DROP TRIGGER refuse');
  expect(await run(2 * dayMs)).toEqual({ activities: 1, orders: 1 });
  await expectBooksHold();
});

test('an older sweeper that loads it once more is put right by the next run', async () => {
  const { id } = await oldSale(1, 0);
  await run(2 * dayMs);
  const runId = await shop.stock.load(
    {
      ...{ activityId: id, generation: 9, capacity: 6, capacityVersion: 1, stock: 6 },
      ...{ holds: [], formerBuyers: [] },
    },
    '',
  );
  await shop.query('UPDATE activity SET generation = 9, stock_run_id = ? WHERE id = ?', [runId, id]);
  expect(await keysOf(id)).not.toEqual([]);
  await run(2 * dayMs);
  expect(await keysOf(id)).toEqual([]);
  await expectBooksHold();
});

test('one that an older sweeper loads between the forgetting and the note is put right by the next run', async () => {
  const { id } = await oldSale(1, 0);
  const load = async () => {
    const runId = await shop.stock.load(
      {
        ...{ activityId: id, generation: 9, capacity: 6, capacityVersion: 1, stock: 6 },
        ...{ holds: [], formerBuyers: [] },
      },
      '',
    );
    await shop.query('UPDATE activity SET generation = 9, stock_run_id = ? WHERE id = ?', [runId, id]);
  };
  const loadedAgain = {
    forget: async (activityId: number) => {
      await shop.stock.forget(activityId);
      if (activityId === id) await load();
    },
  };
  await run(2 * dayMs, loadedAgain);
  expect(await keysOf(id)).not.toEqual([]);
  await run(2 * dayMs);
  expect(await keysOf(id)).toEqual([]);
  await expectBooksHold();
});

/** The stores say what they are told to here: what is asked of them, run after run, is what counts. */
function scripted(orders: Partial<ArchiveSalesParts['orders']>) {
  const task = archiveSales({
    orders: {
      archiveActivities: async () => ({ archived: [], failures: [], next: null }),
      readArchivedStocks: async () => [],
      noteStockForgotten: async () => undefined,
      readArchivedSales: async ({ afterId }) => [1, 2, 3].filter((id) => id > afterId),
      archiveSoldOrders: async () => ({ archived: 0, left: 0, isHeldUp: false, next: null }),
      ...orders,
    },
    stock: { forget: async () => undefined },
    log,
    config: { retainSalesMs: dayMs },
  });
  return (signal = live()) => task(signal);
}

test('activities that are over and must stay keep no run from those behind them, and a run looks at ten pages', async () => {
  const asked: number[] = [];
  const task = scripted({
    archiveActivities: async ({ afterId, limit }) => {
      asked.push(afterId);
      return { archived: [], failures: [], next: afterId === 1_400 ? null : afterId + limit };
    },
  });
  await task();
  expect([asked.length, asked.at(-1)]).toEqual([10, 900]);
  await task();
  expect(asked.slice(10)).toEqual([1_000, 1_100, 1_200, 1_300, 1_400]);
  await task();
  expect(asked[15]).toBe(0);
});

test('a wish to stop is heard after each step, and the next run goes on', async () => {
  const stocks = [1, 2].map((activityId) => ({ activityId, generation: 1, runId: 'x' }));
  const run = stopsAt((ask) =>
    scripted({
      archiveActivities: async ({ afterId }) => {
        ask(`over ${afterId}`);
        return { archived: [], failures: [], next: afterId === 0 ? 100 : null };
      },
      readArchivedStocks: async () => stocks,
      noteStockForgotten: async ({ activityId }) => ask(`note ${activityId}`),
      readArchivedSales: async ({ afterId }) => [1].filter((id) => id > afterId),
      archiveSoldOrders: async ({ afterUserId }) => {
        ask(`sold ${afterUserId}`);
        return { archived: 1, left: 0, isHeldUp: false, next: afterUserId === null ? 'b' : null };
      },
    }),
  );
  expect(await run('over 0')).toEqual(['over 0']);
  expect(await run('note 1')).toEqual(['over 100', 'note 1']);
  expect(await run('sold null')).toEqual(['over 0', 'over 100', 'note 1', 'note 2', 'sold null']);
  expect(await run('')).toEqual(['over 0', 'over 100', 'note 1', 'note 2', 'sold b']);
});

test('orders that must stay keep no run from what comes after them, and are counted once a walk', async () => {
  const asked: string[] = [];
  const task = scripted({
    archiveSoldOrders: async ({ activityId, afterUserId, limit }) => {
      const all = activityId === 1 ? 50_000 : 300;
      const from = Number(afterUserId ?? 0);
      asked.push(`${activityId} ${from}`);
      const left = Math.min(limit, all - from);
      return { archived: 0, left, isHeldUp: false, next: from + left === all ? null : String(from + left) };
    },
  });
  await task();
  expect([asked.length, asked.at(-1)]).toEqual([200, '1 39800']);
  await task();
  expect(asked[200]).toBe('1 40000');
  expect(asked.slice(250)).toEqual(['2 0', '2 200', '3 0', '3 200']);
  const { values } = await ordersLeft.get();
  expect(values.find(({ labels }) => labels.kind === 'sold')?.value).toBe(50_600);
  await task();
  expect(asked[254]).toBe('1 0');
});

test('one that fails does not keep the others, and while old effects hold all up it is asked once a run', async () => {
  const asked: number[] = [];
  const failing = scripted({
    archiveSoldOrders: async ({ activityId }) => {
      asked.push(activityId);
      if (activityId === 2) throw new Error('away');
      return { archived: 1, left: 0, isHeldUp: false, next: null };
    },
  });
  await expect(failing()).rejects.toThrow('could not be archived whole');
  expect(asked.splice(0)).toEqual([1, 2, 3]);
  const heldUp = scripted({
    archiveSoldOrders: async ({ activityId }) => {
      asked.push(activityId);
      return { archived: 0, left: 200, isHeldUp: true, next: null };
    },
  });
  await heldUp();
  await heldUp();
  expect(asked).toEqual([1, 1]);
});
