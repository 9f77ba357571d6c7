import { waitUntil } from '@lapse/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { CommitUnknownError, isUnavailable, type OrderRepository } from '../src/index.ts';
import { type CutMode, type CutProxy, openCutProxy } from './cut-proxy.ts';
import {
  captureOf,
  createActivity,
  createDueOrders,
  type Fixture,
  idsOf,
  newOrder,
  openFixture,
} from './fixture.ts';

let fixture: Fixture;
let proxy: CutProxy;
/** Goes through the proxy; `fixture.repository` does not. */
let shaky: OrderRepository;
beforeAll(async () => {
  fixture = await openFixture();
});
beforeEach(async () => {
  proxy = await openCutProxy(fixture.url);
  shaky = await fixture.openAnother({ url: proxy.url });
});
afterEach(() => proxy.close());
afterAll(() => fixture.close());

/** Break the next COMMIT only, so that the look-up that follows gets through. */
function breakNextCommit(mode: CutMode): void {
  proxy.mode = mode;
  const before = proxy.cuts();
  const timer = setInterval(() => {
    if (proxy.cuts() === before) return;
    proxy.mode = 'pass';
    clearInterval(timer);
  }, 0);
}

test('a create whose COMMIT was done but not answered is known to be created', async () => {
  const activity = await createActivity(fixture.repository);
  const orders = [newOrder(activity), newOrder(activity)];
  breakNextCommit('cut-after-commit');
  const { results, outbox } = await shaky.createOrders(orders);
  expect(proxy.cuts()).toBe(1);
  expect(results).toEqual([{ kind: 'created' }, { kind: 'created' }]);
  expect(outbox?.orders).toHaveLength(2);
  expect((await fixture.repository.readActivity(activity.id))?.available).toBe(98);
});

test('a create whose COMMIT never arrived is done again, once', async () => {
  const activity = await createActivity(fixture.repository);
  const order = newOrder(activity);
  breakNextCommit('cut-before-commit');
  expect((await shaky.createOrders([order])).results).toEqual([{ kind: 'created' }]);
  expect(proxy.cuts()).toBe(1);
  expect((await fixture.repository.readActivity(activity.id))?.available).toBe(99);
});

test('a COMMIT that is still on its way is waited for, not taken for lost', async () => {
  const activity = await createActivity(fixture.repository);
  const order = newOrder(activity);
  breakNextCommit('deliver-late');
  const startedAt = performance.now();
  const { results, outbox } = await shaky.createOrders([order]);
  expect(proxy.cuts()).toBe(1);
  expect(performance.now() - startedAt).toBeGreaterThan(200);
  // Had the look-up not waited, the batch would have run again and met its own order: `same_key`.
  expect(results).toEqual([{ kind: 'created' }]);
  const rows = await fixture.query('SELECT id FROM message_outbox WHERE body LIKE ?', [`%${order.id}%`]);
  expect(rows).toHaveLength(1);
  expect(outbox?.orders).toHaveLength(1);
});

test('negative control: a read that does not lock finds nothing while that COMMIT is on its way', async () => {
  const activity = await createActivity(fixture.repository);
  const order = newOrder(activity);
  breakNextCommit('deliver-late');
  const creating = shaky.createOrders([order]);
  await waitUntil(async () => proxy.cuts() === 1, { what: 'the cut', timeoutMs: 5_000 });
  expect(await fixture.repository.readOrder(order.id)).toBeUndefined();
  await creating;
  expect((await fixture.repository.readOrder(order.id))?.id).toBe(order.id);
});

test.each(['cut-after-commit', 'cut-before-commit'] as const)(
  'with MySQL away after %s, the caller is told that it is unknown, and a repeat settles it',
  async (mode) => {
    const activity = await createActivity(fixture.repository);
    const order = newOrder(activity);
    proxy.mode = mode;
    const timer = setInterval(() => {
      if (proxy.cuts() > 0) proxy.open = false;
    }, 0);
    const failure = await shaky.createOrders([order]).catch((error: unknown) => error);
    clearInterval(timer);
    expect(failure).toBeInstanceOf(CommitUnknownError);
    expect(isUnavailable(failure)).toBe(false);
    proxy.mode = 'pass';
    proxy.open = true;
    const { results } = await shaky.createOrders([order]);
    expect(results[0]?.kind).toBe(mode === 'cut-after-commit' ? 'same_key' : 'created');
    expect((await fixture.repository.readActivity(activity.id))?.available).toBe(99);
  },
);

test.each(['cut-after-commit', 'cut-before-commit'] as const)(
  'a close, a payment, a reminder, a cancel and a rebuild survive %s with one effect each',
  async (mode) => {
    const activity = await createActivity(fixture.repository);
    const [due, paid, cancelled] = await createDueOrders(fixture.repository, activity, 3);
    const reminded = newOrder(activity, { remindAt: new Date(Date.now() - 5) });
    await fixture.repository.createOrders([reminded]);
    if (!due || !paid || !cancelled) throw new Error('three orders were created');

    breakNextCommit(mode);
    const close = await shaky.closeExpired([due.id], { cause: 'message' });
    expect(close.closed.map(({ orderId }) => orderId)).toEqual([due.id]);
    breakNextCommit(mode);
    expect(await shaky.recordPayment(captureOf(paid))).toMatchObject({ outcome: 'paid' });
    breakNextCommit(mode);
    expect((await shaky.remindPending([reminded.id])).reminded).toHaveLength(1);
    breakNextCommit(mode);
    expect(await shaky.cancelOrder(cancelled.id, cancelled.userId)).toMatchObject({ kind: 'cancelled' });
    breakNextCommit(mode);
    await shaky.rebuildSnapshot(activity.id, async () => 'run-1');
    expect(proxy.cuts()).toBe(5);

    const after = await fixture.repository.readActivity(activity.id);
    expect(after).toMatchObject({ available: 98, generation: 2 });
    const [effects] = await fixture.query(
      "SELECT COUNT(*) AS n FROM effect WHERE activity_id = ? AND kind IN ('release', 'confirm')",
      [activity.id],
    );
    expect(Number(effects?.n)).toBe(3);
  },
);

test('connections killed while they work are replaced, and no change is lost or doubled', async () => {
  const activity = await createActivity(fixture.repository, { capacity: 1_000 });
  const orders = await createDueOrders(fixture.repository, activity, 300);
  let stop = false;
  const killer = (async () => {
    while (!stop) {
      const rows = await fixture.query('SHOW PROCESSLIST');
      const own = rows.filter(
        (row) => `/${row.db}` === new URL(fixture.url).pathname && row.Command === 'Query',
      );
      const victim = own.find((row) => !String(row.Info).startsWith('SHOW'));
      if (victim) await fixture.query('KILL CONNECTION ?', [victim.Id]).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
  })();
  let open = idsOf(orders);
  while (open.length > 0) {
    const batch = open.slice(0, 10);
    const result = await fixture.repository.closeExpired(batch, { cause: 'message' }).catch(() => undefined);
    const done = new Set(result && [...result.closed.map(({ orderId }) => orderId), ...result.settled]);
    open = open.filter((id) => !done.has(id));
  }
  stop = true;
  await killer;
  expect((await fixture.repository.readActivity(activity.id))?.available).toBe(1_000);
  const [ledger] = await fixture.query(
    'SELECT SUM(credit) AS credit FROM order_transition WHERE activity_id = ?',
    [activity.id],
  );
  expect(Number(ledger?.credit)).toBe(300);
});
