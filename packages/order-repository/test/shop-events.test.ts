import { waitUntil } from '@lapse/testing';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { OrderRepository, ShopEventJob } from '../src/index.ts';
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
let repository: OrderRepository;

beforeAll(async () => {
  fixture = await openFixture();
  repository = await fixture.openAnother({ shopEvents: true });
});
afterEach(() => fixture.query('DELETE FROM shop_event'));
afterEach(() => fixture.query('DELETE FROM effect'));
afterAll(() => fixture.close());

const past = (ms: number) => new Date(Date.now() - ms);
const claim = (leaseMs = 60_000) => repository.claimShopEvents({ limit: 100, leaseMs });
const finish = (jobs: readonly ShopEventJob[]) =>
  repository.finishShopEvents(jobs.map((job) => ({ claim: job, outcome: { state: 'SENT' } })));

async function stateOf(orderId: string): Promise<string[]> {
  const rows = await fixture.query(
    'SELECT type, state FROM shop_event WHERE order_id = UNHEX(?) ORDER BY seq, id',
    [orderId.replaceAll('-', '')],
  );
  return rows.map(({ type, state }) => `${type} ${state}`);
}

/** Deliver everything there is, each event in the order it was claimed. */
async function drain(): Promise<ShopEventJob[]> {
  const all: ShopEventJob[] = [];
  for (;;) {
    await repository.expandShopEvents(100);
    const jobs = await claim();
    if (jobs.length === 0) return all;
    await finish(jobs);
    all.push(...jobs);
  }
}

/** One order through created, reminded and an end. */
async function livedOrder(end: 'paid' | 'closed' | 'cancelled') {
  const activity = await createActivity(repository);
  const order = newOrder(activity, { remindAt: past(50), expiresAt: new Date(Date.now() + 60_000) });
  await repository.createOrders([order]);
  await repository.remindPending([order.id]);
  if (end === 'paid') await repository.recordPayment(captureOf(order));
  if (end === 'cancelled') await repository.cancelOrder(order.id, order.userId);
  if (end === 'closed') {
    await fixture.query('UPDATE orders SET expires_at = NOW(3) - INTERVAL 1 SECOND WHERE id = UNHEX(?)', [
      order.id.replaceAll('-', ''),
    ]);
    await repository.closeExpired([order.id], { cause: 'message' });
  }
  return order;
}

test.each(['paid', 'closed', 'cancelled'] as const)(
  'an order that ends as %s tells its history in order, one event at a time',
  async (end) => {
    const order = await livedOrder(end);
    await repository.expandShopEvents(10);
    expect(await stateOf(order.id)).toEqual(['created WAITING', 'reminded HELD', `${end} HELD`]);
    const events = await drain();
    expect(events.map(({ type }) => type)).toEqual(['created', 'reminded', end]);
    const bodies = events.map(({ body }) => JSON.parse(body));
    const status = { paid: 'PAID', closed: 'TIMEOUT_CLOSED', cancelled: 'CANCELLED' }[end];
    expect(bodies.map(({ type }) => type)).toEqual(['order.created', 'order.reminded', `order.${end}`]);
    expect(bodies.map(({ data }) => data.status)).toEqual(['PENDING', 'PENDING', status]);
    expect(bodies[2]).toMatchObject({
      timestamp: expect.stringMatching(/Z$/),
      data: { orderId: order.id, userId: order.userId, amountMinor: 1_500, currency: 'CNY', quantity: 1 },
    });
    expect(bodies[2].data.paymentId).toBe(end === 'paid' ? `payment-${order.id}` : undefined);
  },
);

test('without the setting no change of an order writes anything for the shop', async () => {
  const { repository: off } = fixture;
  const activity = await createActivity(off);
  const orders = [...(await createDueOrders(off, activity, 3)), newOrder(activity, { remindAt: past(50) })];
  await off.createOrders(orders.slice(3));
  await off.remindPending(idsOf(orders));
  await off.recordPayment(captureOf(orders[3] ?? newOrder(activity)));
  await off.closeExpired(idsOf(orders), { cause: 'message' });
  expect(await fixture.query("SELECT id FROM effect WHERE kind = 'shop_event'")).toEqual([]);
});

test('a batch costs one row, whatever its size', async () => {
  const activity = await createActivity(repository);
  const orders = await createDueOrders(repository, activity, 100);
  await repository.remindPending(idsOf(orders));
  await repository.closeExpired(idsOf(orders), { cause: 'message' });
  const rows = await fixture.query("SELECT detail FROM effect WHERE kind = 'shop_event' ORDER BY detail");
  // Reminders past the deadline are told to nobody.
  expect(rows).toEqual([{ detail: 'closed' }, { detail: 'created' }]);
});

test('a later effect that is expanded first brings the earlier events with it', async () => {
  const order = await livedOrder('paid');
  const [latest] = await fixture.query("SELECT id FROM effect WHERE detail = 'paid'");
  await fixture.query(
    "UPDATE effect SET attempts = 1, created_at = NOW(3) - INTERVAL 1 HOUR WHERE detail <> 'paid'",
  );
  expect(latest).toBeDefined();
  await repository.expandShopEvents(1);
  expect(await stateOf(order.id)).toEqual(['created WAITING', 'reminded HELD', 'paid HELD']);
  await repository.expandShopEvents(10);
  expect(await stateOf(order.id)).toHaveLength(3);
});

test('of one order nothing later is handed out while an event is claimed, waits for its retry, or is parked', async () => {
  const order = await livedOrder('paid');
  await repository.expandShopEvents(10);
  const [first, ...others] = await claim();
  if (!first) throw new Error('one is due');
  expect(others).toEqual([]);
  expect(await claim()).toEqual([]);
  await repository.finishShopEvents([
    { claim: first, outcome: { state: 'WAITING', retryInMs: 60_000, error: 'busy' } },
  ]);
  expect(await claim()).toEqual([]);
  await fixture.query('UPDATE shop_event SET next_attempt_at = NOW(3)');
  const [again] = await claim();
  expect(again).toMatchObject({ eventId: first.eventId, body: first.body, attempts: 2 });
  if (!again) throw new Error('one is due');
  await repository.finishShopEvents([{ claim: again, outcome: { state: 'PARKED', error: 'refused' } }]);
  expect(await claim()).toEqual([]);
  expect(await stateOf(order.id)).toEqual(['created PARKED', 'reminded HELD', 'paid HELD']);
  // It blocks its own order alone.
  const other = await livedOrder('cancelled');
  expect((await drain()).map(({ orderId, type }) => [orderId, type])).toEqual(
    ['created', 'reminded', 'cancelled'].map((type) => [other.id, type]),
  );
});

test('a claim whose lease ran out finishes nothing: the event is in other hands', async () => {
  const order = await livedOrder('paid');
  await repository.expandShopEvents(10);
  const [slow] = await claim(1);
  if (!slow) throw new Error('one is due');
  let second: ShopEventJob | undefined;
  await waitUntil(
    async () => {
      [second] = await claim();
      return second !== undefined;
    },
    { what: 'the lease to end' },
  );
  await finish([slow]);
  expect((await stateOf(order.id))[0]).toBe('created WAITING');
  await repository.finishShopEvents([{ claim: slow, outcome: { state: 'PARKED', error: 'late' } }]);
  expect((await stateOf(order.id))[0]).toBe('created WAITING');
  if (second) await finish([second]);
  expect(await stateOf(order.id)).toEqual(['created SENT', 'reminded WAITING', 'paid HELD']);
});

test('an effect that fails keeps nobody waiting, and is left alone after its last try', async () => {
  const bad = await livedOrder('paid');
  const good = await livedOrder('paid');
  await fixture.query(`CREATE TRIGGER refuse BEFORE INSERT ON shop_event FOR EACH ROW
    IF NEW.order_id = UNHEX('${bad.id.replaceAll('-', '')}') THEN SIGNAL SQLSTATE '45000'; END IF`);
  try {
    expect(await repository.expandShopEvents(10)).toBe(3);
    expect((await drain()).map(({ orderId }) => orderId)).toEqual([good.id, good.id, good.id]);
    expect(await fixture.query("SELECT attempts FROM effect WHERE kind = 'shop_event'")).toEqual(
      Array.from({ length: 3 }, () => ({ attempts: 1 })),
    );
    await fixture.query(
      "UPDATE effect SET attempts = 19, created_at = NOW(3) - INTERVAL 1 HOUR WHERE kind = 'shop_event'",
    );
    fixture.logged.length = 0;
    await repository.expandShopEvents(10);
    expect(fixture.logged.filter(({ level }) => level === 'error')).toHaveLength(3);
    expect(await repository.expandShopEvents(10)).toBe(0);
    expect(await fixture.query("SELECT attempts FROM effect WHERE kind = 'shop_event'")).toEqual(
      Array.from({ length: 3 }, () => ({ attempts: 20 })),
    );
  } finally {
    await fixture.query('DROP TRIGGER refuse');
  }
});

test('any mix of expanders and deliverers at once: each event once, in the order of its order', async () => {
  const ends = fc.constantFrom('paid' as const, 'closed' as const, 'cancelled' as const);
  await fc.assert(
    fc.asyncProperty(
      fc.array(ends, { minLength: 1, maxLength: 6 }),
      fc.array(fc.constantFrom('expand', 'deliver', 'fail'), { minLength: 4, maxLength: 30 }),
      async (lives, steps) => {
        await fixture.query('DELETE FROM shop_event');
        await fixture.query('DELETE FROM effect');
        const delivered = new Map<string, string[]>();
        const deliver = async (fails: boolean) => {
          for (const job of await repository.claimShopEvents({ limit: 3, leaseMs: 60_000 })) {
            if (fails) {
              const outcome = { state: 'WAITING', retryInMs: 0, error: 'busy' } as const;
              await repository.finishShopEvents([{ claim: job, outcome }]);
              continue;
            }
            delivered.set(job.orderId, [...(delivered.get(job.orderId) ?? []), job.type]);
            await finish([job]);
          }
        };
        const histories = new Map<string, string[]>();
        const living = lives.map(async (end) => {
          const order = await livedOrder(end);
          histories.set(order.id, ['created', 'reminded', end]);
        });
        const working = steps.map((step) =>
          step === 'expand' ? repository.expandShopEvents(2) : deliver(step === 'fail'),
        );
        await Promise.all([...living, ...working]);
        for (const { orderId, type } of await drain()) {
          delivered.set(orderId, [...(delivered.get(orderId) ?? []), type]);
        }
        expect(delivered).toEqual(histories);
        expect(await fixture.query("SELECT id FROM shop_event WHERE state <> 'SENT'")).toEqual([]);
      },
    ),
    { numRuns: 25 },
  );
}, 60_000);

test('two refunds of one order are two events, after the change that they followed', async () => {
  const order = await livedOrder('closed');
  for (const payment of ['late-1', 'late-2']) {
    await repository.recordPayment(captureOf(order, { eventId: payment, paymentId: payment }));
  }
  await fixture.query(
    `UPDATE payment SET state = 'REFUNDED', refunded_at = NOW(3) WHERE order_id = UNHEX(?)`,
    [order.id.replaceAll('-', '')],
  );
  await fixture.query(`UPDATE effect SET attempts = 0 WHERE kind = 'shop_event'`);
  const events = await drain();
  expect(events.map(({ type }) => type)).toEqual(['created', 'reminded', 'closed', 'refunded', 'refunded']);
  expect(
    events
      .slice(3)
      .map(({ body }) => JSON.parse(body).data.paymentId)
      .sort(),
  ).toEqual(['late-1', 'late-2']);
});

test('money that goes back while its order is pending is told before the reminder, and has its place before it', async () => {
  const order = newOrder(await createActivity(repository), { remindAt: past(50) });
  await repository.createOrders([order]);
  const wrong = captureOf(order, { amountMinor: order.amountMinor + 1 });
  expect((await repository.recordPayment(wrong)).outcome).toBe('quarantined');
  await fixture.query(
    "UPDATE payment SET state = 'REFUNDED', refunded_at = NOW(3) WHERE order_id = UNHEX(?)",
    [order.id.replaceAll('-', '')],
  );
  expect((await drain()).map(({ type }) => type)).toEqual(['created', 'refunded']);
  await repository.remindPending([order.id]);
  expect((await drain()).map(({ type }) => type)).toEqual(['reminded']);
  expect(await stateOf(order.id)).toEqual(['created SENT', 'refunded SENT', 'reminded SENT']);
});

test('money that was found to have gone back is told to the shop as a refund, once', async () => {
  const activity = await createActivity(repository);
  const order = newOrder(activity);
  await repository.createOrders([order]);
  const returned = { amountMinor: order.amountMinor, refundId: null, refundRef: 're-1' };
  for (let time = 0; time < 2; time += 1) await repository.recordPayment(captureOf(order, { returned }));
  expect((await drain()).map(({ type }) => type)).toEqual(['created', 'refunded']);
});

test('the refund of money whose order never came leaves nothing behind, and comes with the order if that comes after all', async () => {
  const order = newOrder(await createActivity(repository));
  expect((await repository.recordPayment(captureOf(order))).outcome).toBe('kept');
  expect(await repository.giveUpWaitingPayments({ olderThanMs: 0, limit: 10 })).toEqual([order.id]);
  const provider = 'any';
  const refunds = await repository.claimRefunds({ provider, limit: 100, leaseMs: 60_000 });
  const mine = refunds.find(({ orderId }) => orderId === order.id);
  const { id = 0, refundId = '' } = mine ?? {};
  expect(await repository.finishRefund(id, { refundId, refundRef: 'r' })).toBe('finished');
  fixture.logged.length = 0;

  expect(await repository.expandShopEvents(10)).toBe(1);

  expect(await fixture.query('SELECT kind, attempts FROM effect')).toEqual([]);
  expect(fixture.logged).toEqual([]);
  expect(await stateOf(order.id)).toEqual([]);
  await repository.createOrders([order]);
  expect((await drain()).map(({ type }) => type)).toEqual(['created', 'refunded']);
});
