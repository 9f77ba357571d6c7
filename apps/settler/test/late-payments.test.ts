import { sleep } from '@lapse/runtime';
import { createScriptedProvider, log, openShop, placeOrders, readStock, type Shop } from '@lapse/test-shop';
import { checkInvariants, describeVerdict } from '@lapse/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { applyWaitingPayments } from '../src/apply-waiting-payments.ts';
import {
  beginPaying,
  captureEvent,
  closeAndRelease,
  comeToRest,
  config,
  moneyOf,
  payIn,
  reachDeadline,
  recordAndApply,
  refundOnce,
  signal,
  statusOf,
} from './settler.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());
afterEach(async () => {
  await comeToRest(shop);
  const { mysqlUrl, redisUrl } = { mysqlUrl: shop.databaseUrl, redisUrl: shop.redisUrl };
  const verdict = await checkInvariants({ mysqlUrl, redisUrl, atRest: false });
  expect(describeVerdict(verdict)).not.toContain('FAIL');
});

let providers = 0;
const reacquire = { latePaymentPolicy: 'reacquire', paymentGraceMs: 0 } as const;

/** An order that its buyer paid at the provider, and that closed before anybody here heard of it. */
async function paidTooLate(policy: object) {
  // A name of its own: it pays back what it took, and not what an earlier test left.
  providers += 1;
  const provider = createScriptedProvider(`provider-${providers}`);
  const being = await beginPaying(shop, provider, { paymentGraceMs: 0, ...policy });
  const capture = provider.pay(being.attempt.id);
  if (!capture) throw new Error('not paid');
  await reachDeadline(shop, being.orderId);
  expect((await closeAndRelease(shop, [being.orderId])).closed).toHaveLength(1);
  return { provider, being, event: captureEvent(provider, being, capture) };
}

test('money after the close, the place sold to another: one refund, and the other buyer is untouched (case 3)', async () => {
  for (const policy of [{}, reacquire]) {
    const { provider, being, event } = await paidTooLate(policy);
    const [other = ''] = (
      await placeOrders(shop, being.activity, 1, { remindInMs: 60_000, expireInMs: 90_000 })
    ).ids;
    expect(await recordAndApply(shop, event)).toBe('refund_pending');
    expect(await statusOf(shop, being.orderId)).toBe('TIMEOUT_CLOSED');
    expect(await statusOf(shop, other)).toBe('PENDING');
    await refundOnce(shop, provider);
    expect(provider.refunds).toMatchObject([{ paymentId: event.paymentId, amountMinor: 12_800 }]);
    expect(await moneyOf(shop, being.orderId)).toEqual(['REFUNDED']);
    expect(await readStock(shop, being.activity.id)).toEqual({ mysql: 0, redis: 0, held: 1 });
  }
});

test('money after the close, a place free, policy reacquire: the place is taken again, once (case 4)', async () => {
  const { provider, being, event } = await paidTooLate(reacquire);
  const outcomes = await Promise.all([1, 2, 3, 4, 5].map(() => recordAndApply(shop, event)));
  expect(outcomes.sort()).toEqual([...Array(4).fill('duplicate'), 'reacquired']);
  expect(await statusOf(shop, being.orderId)).toBe('PAID');
  expect(await moneyOf(shop, being.orderId)).toEqual(['CAPTURED']);
  await refundOnce(shop, provider);
  expect(provider.refunds).toEqual([]);
  await comeToRest(shop);
  expect(await readStock(shop, being.activity.id)).toEqual({ mysql: 0, redis: 0, held: 0 });
  const timeline = await shop.orders.readTimeline(being.orderId);
  expect(timeline?.transitions.map(({ toStatus, credit, debit }) => [toStatus, credit, debit])).toEqual([
    ['PENDING', 0, 0],
    ['TIMEOUT_CLOSED', 1, 0],
    ['PAID', 0, 1],
  ]);
  expect(timeline?.order).toMatchObject({ closedAt: null, paidAt: expect.any(Date) });
});

test('policy reacquire refunds where the buyer holds another order, sales are over, or the buyer cancelled', async () => {
  const again = await paidTooLate({ ...reacquire, capacity: 5 });
  const { activity, userId } = again.being;
  const { orders } = shop;
  const atMs = orders.now();
  const at = (ms: number) => new Date(atMs + ms);
  const { results } = await orders.createOrders([
    {
      id: again.being.orderId.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')),
      activityId: activity.id,
      generation: activity.generation,
      userId,
      quantity: 1,
      amountMinor: 12_800,
      currency: 'CNY',
      locale: 'en',
      createdAt: at(0),
      remindAt: at(60_000),
      expiresAt: at(90_000),
      idempotencyKey: 'second try',
      requestHash: Buffer.alloc(32),
    },
  ]);
  expect(results).toEqual([{ kind: 'created' }]);
  expect(await recordAndApply(shop, again.event)).toBe('refund_pending');
  expect((await orders.readTimeline(again.being.orderId))?.payments[0]?.reason).toContain('another one');

  const over = await paidTooLate(reacquire);
  await shop.query('UPDATE activity SET sale_ends_at = NOW(3) WHERE id = ?', [over.being.activity.id]);
  expect(await recordAndApply(shop, over.event)).toBe('refund_pending');
  expect((await orders.readTimeline(over.being.orderId))?.payments[0]?.reason).toContain('sales have ended');

  const [id = ''] = (await placeOrders(shop, over.being.activity, 1, { remindInMs: 1, expireInMs: 60_000 }))
    .ids;
  await orders.cancelOrder(id, `buyer ${id}`);
  const paid = { ...over.event, orderId: id, paymentId: `pay ${id}`, eventId: `evt ${id}` };
  expect(await recordAndApply(shop, paid)).toBe('refund_pending');
  // Redis was never told of the hold taken outside it: a rebuild brings both together.
  await orders.rebuildSnapshot(activity.id, async ({ available, ...snapshot }) =>
    shop.stock.load({ ...snapshot, stock: available }, await shop.stock.readLoadToken(activity.id)),
  );
});

test('the last place: a late payment and a new buyer at once, 60 times: one has it, the other none, both stores agree', async () => {
  const won = { late: 0, buyer: 0 };
  for (let time = 0; time < 60; time += 1) {
    const { being, event } = await paidTooLate(reacquire);
    const buyer = placeOrders(shop, being.activity, 1, { remindInMs: 60_000, expireInMs: 90_000 }).then(
      ({ ids }) => ids[0],
      () => undefined,
    );
    const [outcome, other] = await Promise.all([recordAndApply(shop, event), buyer]);
    const late = await statusOf(shop, being.orderId);
    expect([outcome, late, other === undefined]).toEqual(
      outcome === 'reacquired' ? ['reacquired', 'PAID', true] : ['refund_pending', 'TIMEOUT_CLOSED', false],
    );
    won[outcome === 'reacquired' ? 'late' : 'buyer'] += 1;
    // The loser's hold in Redis, if it had one, is the producer's to release.
    if (other === undefined) await releaseStrays(being.activity.id);
    await comeToRest(shop);
    expect(await readStock(shop, being.activity.id)).toMatchObject({ mysql: 0, redis: 0 });
  }
  expect(won.late + won.buyer).toBe(60);
});

test('the same webhook five times at once after the close: one refund is asked for (case 5)', async () => {
  const { provider, being, event } = await paidTooLate({});
  const outcomes = await Promise.all([1, 2, 3, 4, 5].map(() => recordAndApply(shop, event)));
  expect(outcomes.sort()).toEqual([...Array(4).fill('duplicate'), 'refund_pending']);
  await Promise.all([refundOnce(shop, provider), refundOnce(shop, provider)]);
  expect(provider.refunds).toHaveLength(1);
  expect(await moneyOf(shop, being.orderId)).toEqual(['REFUNDED']);
});

test('a webhook that overtook its order pays it when the order commits two seconds later (case 7)', async () => {
  const provider = createScriptedProvider();
  const { activity } = await beginPaying(shop, provider, { capacity: 3 });
  const other = await payIn(shop, provider, activity);
  const capture = provider.pay(other.attempt.id);
  if (!capture) throw new Error('not paid');
  // The order as another connection sees it before its commit: not there.
  const id = Buffer.from(other.orderId.replaceAll('-', ''), 'hex');
  const hidden = Buffer.from(other.orderId.replaceAll('-', '').replace(/^.{4}/, 'ffff'), 'hex');
  await shop.query('UPDATE orders SET id = ? WHERE id = ?', [hidden, id]);
  expect(await recordAndApply(shop, captureEvent(provider, other, capture))).toBe('kept');
  const apply = applyWaitingPayments({ ...shop, config, log });
  await apply(signal);
  expect(await shop.count("SELECT COUNT(*) FROM payment WHERE state = 'WAITING'")).toBe(1);
  await sleep(2_000);
  await shop.query('UPDATE orders SET id = ? WHERE id = ?', [id, hidden]);
  await apply(signal);
  expect(await statusOf(shop, other.orderId)).toBe('PAID');
  expect(await moneyOf(shop, other.orderId)).toEqual(['CAPTURED']);
  expect(await recordAndApply(shop, captureEvent(provider, other, capture))).toBe('duplicate');
});

test('money for an order that never comes goes back after its time, and no later webhook changes that', async () => {
  const provider = createScriptedProvider();
  const event = {
    eventId: 'evt-never',
    type: 'payment.captured' as const,
    provider: provider.name,
    orderId: '019ad0c4-8b1e-7c3a-9f00-3b1c52d6a00f',
    paymentId: 'pay-never',
    amountMinor: 5,
    currency: 'CNY',
    occurredAt: new Date(),
  };
  expect(await recordAndApply(shop, event)).toBe('kept');
  const apply = (keptMaxMs: number) => applyWaitingPayments({ ...shop, config: { keptMaxMs }, log })(signal);
  await apply(600_000);
  expect(await recordAndApply(shop, event)).toBe('kept');
  await apply(0);
  expect(await recordAndApply(shop, event)).toBe('duplicate');
  await refundOnce(shop, provider);
  expect(provider.refunds).toMatchObject([{ paymentId: 'pay-never', amountMinor: 5 }]);
});

test('so many kept payments that a look at all of them takes longer than the time between two: all go back all the same', async () => {
  const provider = createScriptedProvider('provider-of-many');
  const count = 250;
  for (let number = 0; number < count; number += 1) {
    const event = {
      ...{ eventId: `evt-many-${number}`, type: 'payment.captured' as const, provider: provider.name },
      orderId: `019ad0c4-8b1e-7c3a-9f00-${String(number).padStart(12, '0')}`,
      ...{ paymentId: `pay-many-${number}`, amountMinor: 5, currency: 'CNY', occurredAt: new Date() },
    };
    expect(await shop.orders.recordPayment(event)).toMatchObject({ outcome: 'kept' });
  }
  await shop.query("UPDATE payment SET next_try_at = NOW(3) WHERE state = 'WAITING'");
  // A store that takes its time: the first are due again before the last had their turn.
  const recordPayment: Shop['orders']['recordPayment'] = async (event) => {
    await sleep(12);
    return shop.orders.recordPayment(event);
  };
  const orders = { ...shop.orders, recordPayment };
  await applyWaitingPayments({ ...shop, orders, config: { keptMaxMs: 0 }, log })(signal);
  expect(await shop.count("SELECT COUNT(*) FROM payment WHERE state = 'WAITING'")).toBe(0);
  await refundOnce(shop, provider);
  expect(provider.refunds).toHaveLength(count);
});

test('a kept payment that cannot be applied holds up none of those behind it, and is told in the end', async () => {
  const provider = createScriptedProvider();
  const { activity } = await beginPaying(shop, provider, { capacity: 4 });
  const orders = [];
  for (let number = 0; number < 3; number += 1) orders.push(await payIn(shop, provider, activity));
  const hidden = ({ orderId }: { orderId: string }) =>
    Buffer.from(orderId.replaceAll('-', '').replace(/^.{4}/, 'ffff'), 'hex');
  const shown = ({ orderId }: { orderId: string }) => Buffer.from(orderId.replaceAll('-', ''), 'hex');
  for (const order of orders) {
    await shop.query('UPDATE orders SET id = ? WHERE id = ?', [hidden(order), shown(order)]);
    const capture = provider.pay(order.attempt.id);
    if (!capture) throw new Error('not paid');
    expect(await recordAndApply(shop, captureEvent(provider, order, capture))).toBe('kept');
  }
  for (const order of orders)
    await shop.query('UPDATE orders SET id = ? WHERE id = ?', [shown(order), hidden(order)]);
  const [bad, ...good] = orders;
  if (!bad) throw new Error('no order');
  await shop.query(
    `CREATE TRIGGER bad_payment BEFORE UPDATE ON payment FOR EACH ROW
     IF NEW.order_id = X'${bad.orderId.replaceAll('-', '')}' AND NEW.state <> 'WAITING'
     THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'spoilt'; END IF`,
  );
  const apply = applyWaitingPayments({ ...shop, config, log });
  try {
    const error: unknown = await apply(signal).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ cause: { message: expect.stringContaining('spoilt') } });
    for (const { orderId } of good) expect(await statusOf(shop, orderId)).toBe('PAID');
    expect(await moneyOf(shop, bad.orderId)).toEqual(['WAITING']);
  } finally {
    await shop.query('DROP TRIGGER bad_payment');
  }
  await shop.query("UPDATE payment SET next_try_at = NOW(3) WHERE state = 'WAITING'");
  await apply(signal);
  expect(await statusOf(shop, bad.orderId)).toBe('PAID');
});

async function releaseStrays(activityId: number): Promise<void> {
  const ages = { heldMs: 0, releasedMs: Number.POSITIVE_INFINITY };
  for await (const holds of shop.stock.scanOld(activityId, ages)) {
    const statuses = await shop.orders.readStatuses(holds.map(({ orderId }) => orderId));
    const strays = holds.filter(({ orderId }) => !statuses.has(orderId)).map(({ orderId }) => orderId);
    if (strays.length > 0) await shop.stock.release(activityId, strays);
  }
}
