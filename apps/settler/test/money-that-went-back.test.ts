import { randomUUID } from 'node:crypto';
import type { Capture, PaymentProvider } from '@lapse/payments';
import { noAnswer, openShop, outcomesOf, readStock, type Shop } from '@lapse/test-shop';
import { checkInvariants } from '@lapse/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  type BeingPaid,
  beginPaying,
  captureEvent,
  closeCauseOf,
  comeToRest,
  moneyOf,
  reachDeadline,
  recordAndApply,
  refundOnce,
  settleOnce,
  statusOf,
} from './settler.ts';
import { type RunningSimulator, startSimulator } from './simulator.ts';

/**
 * MySQL is a backup: the attempt is open in it, and at the provider its money has come, and has gone back, since. To
 * MySQL that is the same as an attempt whose every event was lost.
 */
let shop: Shop;
let simulator: RunningSimulator;
beforeAll(async () => {
  shop = await openShop();
  simulator = await startSimulator();
});
afterAll(async () => {
  await simulator?.close();
  await shop?.close();
});
afterEach(() => simulator.setFaults({}));

interface Paid extends BeingPaid {
  readonly capture: Capture;
}

async function payInTime(change: Parameters<typeof beginPaying>[2] = {}): Promise<Paid> {
  const being = await beginPaying(shop, simulator.provider, { paymentGraceMs: 600_000, ...change });
  await simulator.pay(being.attempt.providerRef);
  const { captures } = await simulator.readLedger();
  const capture = captures.find(({ orderId }) => orderId === being.orderId);
  if (!capture) throw new Error('not captured');
  return { ...being, capture: { ...capture, capturedAt: new Date(capture.capturedAt) } };
}

/** As the settler asked for it before the disaster. */
function payBack({ capture }: Paid, refundId: string = randomUUID(), amountMinor = capture.amountMinor) {
  const { paymentId, currency } = capture;
  return simulator.provider.refund({ refundId, paymentId, amountMinor, currency });
}

async function settle(being: Paid, provider: PaymentProvider = simulator.provider): Promise<void> {
  await reachDeadline(shop, being.orderId);
  await shop.query('UPDATE payment_attempt SET claimed_until = NULL');
  await settleOnce(shop, provider);
}

const paymentsOf = async ({ orderId }: Paid) => (await shop.orders.readTimeline(orderId))?.payments ?? [];
const attemptOf = async ({ orderId }: Paid) => (await shop.orders.readTimeline(orderId))?.attempts[0];
const byHand = { dryRun: false, actor: 'boss', reason: 'the buyer wrote' };
const refundsOf = async ({ capture }: Paid) => {
  const { refunds } = await simulator.readLedger();
  return refunds.filter(({ paymentId }) => paymentId === capture.paymentId);
};

test('money that went back pays no order: the attempt ends, the order closes, its place is free, and no second refund is made', async () => {
  const being = await payInTime();
  const refundId = randomUUID();
  const { refundRef } = await payBack(being, refundId);

  await settle(being);

  expect(await closeCauseOf(shop, being.orderId)).toBe('settle');
  expect(await attemptOf(being)).toMatchObject({ state: 'CAPTURED', endedAt: expect.any(Date) });
  expect(await paymentsOf(being)).toMatchObject([
    { state: 'REFUNDED', refundRef, refundedAt: expect.any(Date), reason: 'its money had gone back before' },
  ]);
  expect(await readStock(shop, being.activity.id)).toEqual({ mysql: 1, redis: 1, held: 0 });
  // Nor by an event that the provider sends once more, nor by another run.
  expect(await recordAndApply(shop, captureEvent(simulator.provider, being, being.capture))).toBe(
    'duplicate',
  );
  await settleOnce(shop, simulator.provider);
  await refundOnce(shop, simulator.provider);
  expect(await moneyOf(shop, being.orderId)).toEqual(['REFUNDED']);
  expect(await refundsOf(being)).toHaveLength(1);
  // Should that refund fail after all, a person hears of it.
  const failure = { paymentId: being.capture.paymentId, refundId, refundRef, reason: 'the card is closed' };
  expect(await shop.orders.recordRefundFailure(failure)).toBe('refund_failed');
  await expectInvariants(being);
});

test('negative control: where the provider’s answer leaves refunds out, the order is PAID by money that its buyer has back', async () => {
  const being = await payInTime();
  await payBack(being);
  const forgetful: PaymentProvider = {
    ...simulator.provider,
    cancelAttempt: async (ref) => {
      const status = await simulator.provider.cancelAttempt(ref);
      return status.kind === 'captured' ? { ...status, returned: null } : status;
    },
  };
  await settle(being, forgetful);
  expect(await statusOf(shop, being.orderId)).toBe('PAID');
  expect(await refundsOf(being)).toHaveLength(1);
});

test('a refund that was made at the provider, by nobody here, counts as well', async () => {
  const being = await payInTime();
  // An id that is no UUID: not one of ours.
  await payBack(being, 'by-support');
  await settle(being);
  expect(await moneyOf(shop, being.orderId)).toEqual(['REFUNDED']);
  expect(await statusOf(shop, being.orderId)).toBe('TIMEOUT_CLOSED');
  await expectInvariants(being);
});

test('several refunds that together are all of it count as one; a part of it is set aside for a person, and pays nothing', async () => {
  const whole = await payInTime();
  await payBack(whole, randomUUID(), 1);
  await payBack(whole, randomUUID(), whole.capture.amountMinor - 1);
  const part = await payInTime();
  await payBack(part, randomUUID(), 1);

  await settle(whole);
  await settle(part);

  expect(await moneyOf(shop, whole.orderId)).toEqual(['REFUNDED']);
  expect(await paymentsOf(part)).toMatchObject([
    { state: 'QUARANTINED', reason: `1 of its ${part.capture.amountMinor} had gone back before` },
  ]);
  for (const being of [whole, part]) {
    expect(await closeCauseOf(shop, being.orderId)).toBe('settle');
    expect(await readStock(shop, being.activity.id)).toEqual({ mysql: 1, redis: 1, held: 0 });
    await expectInvariants(being);
  }
  // A person orders the whole of it back by mistake: the provider pays no more than is left.
  const [row] = await paymentsOf(part);
  await outcomesOf(shop.orders.refundPayments([row?.id ?? 0], byHand, noAnswer));
  await refundOnce(shop, simulator.provider);
  expect(await moneyOf(shop, part.orderId)).toEqual(['REFUND_PENDING']);
  expect(await refundsOf(part)).toHaveLength(1);
});

test('money that is on its way back is waited for: a refund that then fails leaves money, which goes back once', async () => {
  await simulator.setFaults({ refundPending: 1, processingMs: 600_000 });
  const being = await payInTime({ paymentGraceMs: 0 });
  const { refundRef } = await payBack(being);
  await settle(being);
  expect(await attemptOf(being)).toMatchObject({
    state: 'OPEN',
    lastError: 'the provider does not know yet',
  });
  expect(await moneyOf(shop, being.orderId)).toEqual([]);
  // Its grace is over: it closes meanwhile.
  expect(await statusOf(shop, being.orderId)).toBe('TIMEOUT_CLOSED');
  await simulator.setFaults({});
  await simulator.failRefund(refundRef);
  await shop.query('UPDATE payment_attempt SET claimed_until = NULL');
  await settleOnce(shop, simulator.provider);
  await refundOnce(shop, simulator.provider);
  expect(await moneyOf(shop, being.orderId)).toEqual(['REFUNDED']);
  expect((await refundsOf(being)).map(({ state }) => state).sort()).toEqual(['failed', 'refunded']);
  await expectInvariants(being);
});

test('an order that is not there either hears of money that went back, once', async () => {
  const being = await payInTime();
  const { refundRef } = await payBack(being);
  const { amountMinor } = being.capture;
  const event = captureEvent(simulator.provider, { ...being, orderId: randomUUID() }, being.capture, {
    returned: { amountMinor, refundId: null, refundRef },
  });
  expect(await recordAndApply(shop, event)).toBe('refunded');
  expect(await recordAndApply(shop, event)).toBe('duplicate');
  await shop.orders.giveUpWaitingPayments({ olderThanMs: 0, limit: 100 });
  await refundOnce(shop, simulator.provider);
  expect(await refundsOf(being)).toHaveLength(1);
});

async function expectInvariants({ activity }: Paid): Promise<void> {
  await comeToRest(shop);
  const { databaseUrl: mysqlUrl, redisUrl } = shop;
  const verdict = await checkInvariants({ mysqlUrl, redisUrl, atRest: false, activityIds: [activity.id] });
  expect(verdict.failed).toEqual([]);
}
