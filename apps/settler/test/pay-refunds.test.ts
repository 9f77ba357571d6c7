import { ProviderRefusedError } from '@lapse/payments';
import {
  captureLog,
  createScriptedProvider,
  noAnswer,
  openActivity,
  openShop,
  outcomesOf,
  placeOrders,
  type Shop,
} from '@lapse/test-shop';
import { waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { payRefunds } from '../src/pay-refunds.ts';
import { reportBacklog } from '../src/report-backlog.ts';
import { config, moneyOf, recordAndApply, refundOnce, signal } from './settler.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

/** A payment that must go back. */
async function owedRefund(provider: string): Promise<{ orderId: string; paymentId: string }> {
  const activity = await openActivity(shop, 1);
  const [orderId = ''] = (await placeOrders(shop, activity, 1, { remindInMs: -2, expireInMs: -1 })).ids;
  await shop.orders.closeExpired([orderId], { cause: 'message' });
  const paymentId = `pay-${orderId}`;
  const outcome = await recordAndApply(shop, {
    eventId: `evt-${orderId}`,
    type: 'payment.captured',
    provider,
    paymentId,
    orderId,
    amountMinor: 12_800,
    currency: 'CNY',
    occurredAt: new Date(),
  });
  expect(outcome).toBe('refund_pending');
  return { orderId, paymentId };
}
const dueNow = () => shop.query("UPDATE payment SET next_try_at = NOW(3) WHERE state = 'REFUND_PENDING'");

test('a provider that answers 500 three times: the refund stays owed, is tried again, and is made once (case 6)', async () => {
  const provider = createScriptedProvider('six');
  const { orderId } = await owedRefund('six');
  provider.failNext('refund', 3, 'before');
  for (const tries of [1, 2, 3]) {
    await refundOnce(shop, provider);
    expect(await moneyOf(shop, orderId)).toEqual(['REFUND_PENDING']);
    const [owed] = await shop.orders.listRefunds({ state: 'REFUND_PENDING', afterId: 0, limit: 10 });
    expect(owed).toMatchObject({ orderId, tries, lastError: expect.stringContaining('away') });
    expect(owed?.nextTryAt?.getTime()).toBeGreaterThan(shop.orders.now());
    await dueNow();
  }
  await refundOnce(shop, provider);
  expect(await moneyOf(shop, orderId)).toEqual(['REFUNDED']);
  expect(provider.refunds).toHaveLength(1);
  expect(await shop.orders.listRefunds({ state: 'REFUNDED', afterId: 0, limit: 10 })).toMatchObject([
    { orderId, tries: 4, refundRef: expect.any(String), refundedAt: expect.any(Date) },
  ]);
});

test('a payment of nothing, for a free order that closed, is paid back without asking the provider', async () => {
  const provider = createScriptedProvider('free');
  const { orderId } = await owedRefund('free');
  await shop.query('UPDATE payment SET amount_minor = 0 WHERE order_id = UNHEX(REPLACE(?, "-", ""))', [
    orderId,
  ]);
  await refundOnce(shop, provider);
  expect(await moneyOf(shop, orderId)).toEqual(['REFUNDED']);
  expect(provider.refunds).toHaveLength(0);
});

test('a refund whose answer is lost, and four settlers at once, still pay back once', async () => {
  const provider = createScriptedProvider('once');
  for (let count = 0; count < 10; count += 1) await owedRefund('once');
  provider.failNext('refund', 10, 'after');
  await waitUntil(
    async () => {
      await dueNow();
      await Promise.all([1, 2, 3, 4].map(() => refundOnce(shop, provider)));
      return (await shop.count("SELECT COUNT(*) FROM payment WHERE state = 'REFUND_PENDING'")) === 0;
    },
    { what: 'all refunds to be accepted' },
  );
  expect(provider.refunds).toHaveLength(10);
});

test('negative control: without the refund’s own id, an answer that is lost pays back twice', async () => {
  const provider = createScriptedProvider('careless');
  const { orderId } = await owedRefund('careless');
  provider.failNext('refund', 1, 'after');
  let tries = 0;
  const careless = {
    ...provider,
    refund: (request: Parameters<typeof provider.refund>[0]) => {
      tries += 1;
      return provider.refund({ ...request, refundId: `${request.refundId} try ${tries}` });
    },
  };
  await refundOnce(shop, careless);
  await dueNow();
  await refundOnce(shop, careless);
  expect(await moneyOf(shop, orderId)).toEqual(['REFUNDED']);
  expect(provider.refunds).toHaveLength(2);
});

test('a refund that the provider refuses stays owed, waits long, and is an error in the log', async () => {
  const { log, lines } = captureLog();
  const { orderId } = await owedRefund('strict');
  const provider = {
    name: 'strict',
    refund: () => Promise.reject(new ProviderRefusedError('no such payment')),
  };
  await payRefunds({ orders: shop.orders, provider, config, log })(signal);
  expect(await moneyOf(shop, orderId)).toEqual(['REFUND_PENDING']);
  expect(lines.filter(({ level }) => level === 50 || level === 'error')).toHaveLength(1);
  const [owed] = (await shop.orders.listRefunds({ state: 'REFUND_PENDING', afterId: 0, limit: 10 })).filter(
    (refund) => refund.orderId === orderId,
  );
  expect(owed?.nextTryAt?.getTime()).toBeGreaterThan(shop.orders.now() + 3_000_000);
});

/** An order whose payment is of another currency; its number. */
async function quarantined(provider: string): Promise<{ orderId: string; id: number }> {
  const activity = await openActivity(shop, 1);
  const [orderId = ''] = (await placeOrders(shop, activity, 1, { remindInMs: -2, expireInMs: 60_000 })).ids;
  const outcome = await recordAndApply(shop, {
    eventId: `evt-${orderId}`,
    type: 'payment.captured',
    provider,
    paymentId: `pay-${orderId}`,
    orderId,
    amountMinor: 777,
    currency: 'EUR',
    occurredAt: new Date(),
  });
  expect(outcome).toBe('quarantined');
  const [row] = await shop.query('SELECT id FROM payment WHERE payment_id = ?', [`pay-${orderId}`]);
  return { orderId, id: Number(row?.id) };
}
const byHand = { dryRun: false, actor: 'boss', reason: 'the buyer wrote' };
const order = (id: number) => outcomesOf(shop.orders.refundPayments([id], byHand, noAnswer));

test('quarantined money goes back when an operator says so, and not before: what was captured, once', async () => {
  const provider = createScriptedProvider('quarantine');
  const { orderId, id } = await quarantined('quarantine');
  await refundOnce(shop, provider);
  expect(provider.refunds).toEqual([]);
  for (let asked = 0; asked < 3; asked += 1) {
    await order(id);
    await refundOnce(shop, provider);
  }
  expect(provider.refunds).toMatchObject([
    { paymentId: `pay-${orderId}`, amountMinor: 777, currency: 'EUR' },
  ]);
  expect(await moneyOf(shop, orderId)).toEqual(['REFUNDED']);
});

test('negative control: without the state that says it was ordered before, it goes back twice', async () => {
  const provider = createScriptedProvider('forgetful');
  const { id } = await quarantined('forgetful');
  for (let asked = 0; asked < 2; asked += 1) {
    await shop.query("UPDATE payment SET state = 'QUARANTINED' WHERE id = ?", [id]);
    await order(id);
    await refundOnce(shop, provider);
  }
  expect(provider.refunds).toHaveLength(2);
});

test('a refund that the provider knows as failed is tried no more, is an error in the log, and is made anew by hand', async () => {
  const { log, lines } = captureLog();
  const provider = createScriptedProvider('failing');
  const { orderId } = await owedRefund('failing');
  const failing = {
    name: 'failing',
    refund: async () => ({ kind: 'failed' as const, refundRef: 're-1', reason: 'card closed' }),
  };
  await payRefunds({ orders: shop.orders, provider: failing, config, log })(signal);
  expect(await moneyOf(shop, orderId)).toEqual(['REFUND_FAILED']);
  expect(lines.filter(({ level }) => level === 50 || level === 'error')).toHaveLength(1);
  await refundOnce(shop, provider);
  expect(provider.refunds).toEqual([]);
  const [failed] = await shop.orders.listRefunds({ state: 'REFUND_FAILED', afterId: 0, limit: 10 });
  expect(failed).toMatchObject({ orderId, refundRef: 're-1', lastError: 'card closed' });
  expect(await order(failed?.id ?? 0)).toMatchObject([{ kind: 'refund_due', changed: true }]);
  await refundOnce(shop, provider);
  expect(await moneyOf(shop, orderId)).toEqual(['REFUNDED']);
  expect(provider.refunds).toHaveLength(1);
});

test('a refund that the provider took while a person paid it by hand is an error in the log', async () => {
  const { log, lines } = captureLog();
  const { orderId } = await owedRefund('overtaken');
  const provider = {
    name: 'overtaken',
    refund: async () => {
      await shop.query('UPDATE payment SET claimed_until = NULL WHERE payment_id = ?', [`pay-${orderId}`]);
      const [owed] = await shop.query('SELECT id FROM payment WHERE payment_id = ?', [`pay-${orderId}`]);
      const paid = { id: Number(owed?.id), reference: null };
      expect((await shop.orders.markRefundPaid(paid, byHand, noAnswer)).kind).toBe('done');
      return { kind: 'refunded' as const, refundRef: 're-1' };
    },
  };
  await payRefunds({ orders: shop.orders, provider, config, log })(signal);
  const errors = lines.filter(({ level }) => level === 50 || level === 'error');
  expect(errors).toMatchObject([{ orderId, msg: expect.stringContaining('went back twice') }]);
});

test('money is paid back by the provider that took it, and by no other', async () => {
  const { orderId } = await owedRefund('earlier');
  const other = createScriptedProvider('present');
  await refundOnce(shop, other);
  expect(other.refunds).toEqual([]);
  expect(await moneyOf(shop, orderId)).toEqual(['REFUND_PENDING']);
});

test('refunds that wait for too long are an alarm, also where no provider is set up', async () => {
  const { log, lines } = captureLog();
  await owedRefund('nobody');
  await shop.query('UPDATE payment SET received_at = received_at - INTERVAL 2 HOUR WHERE state = ?', [
    'REFUND_PENDING',
  ]);
  const parts = { orders: shop.orders, provider: null, config: { refundAlertMs: 3_600_000 }, log };
  const report = reportBacklog(parts);
  await report();
  await report();
  expect(lines.map(({ msg }) => msg)).toEqual([expect.stringContaining('no payment provider is set up')]);
});
