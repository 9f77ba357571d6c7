import type { CreateActivityBody } from '@lapse/contracts';
import { applyEffects } from '@lapse/order-flow';
import type { Activity, PaymentAttempt, PaymentEvent, PaymentResult } from '@lapse/order-repository';
import type { Capture, PaymentProvider } from '@lapse/payments';
import { log, openActivity, placeOrders, type Shop } from '@lapse/test-shop';
import { openCloseLane } from '../src/open-close-lane.ts';
import { payRefunds } from '../src/pay-refunds.ts';
import { settleAttempts } from '../src/settle-attempts.ts';

export const signal: AbortSignal = new AbortController().signal;
export const config = { atOnceMax: 8, timeoutMs: 500, keptMaxMs: 600_000, refundAlertMs: 1_000 };

export interface BeingPaid {
  readonly activity: Activity;
  readonly orderId: string;
  readonly userId: string;
  readonly attempt: PaymentAttempt;
}

/** One order of a new activity, with an attempt that is open at the provider. */
export async function beginPaying(
  shop: Shop,
  provider: PaymentProvider,
  { capacity = 1, ...change }: Partial<CreateActivityBody> = {},
): Promise<BeingPaid> {
  const activity = await openActivity(shop, capacity, change);
  return { activity, ...(await payIn(shop, provider, activity)) };
}

/** One more order of the activity, being paid. */
export async function payIn(
  shop: Shop,
  provider: PaymentProvider,
  activity: Activity,
): Promise<Omit<BeingPaid, 'activity'>> {
  const { ids } = await placeOrders(shop, activity, 1, { remindInMs: -1, expireInMs: 60_000 });
  const [orderId = ''] = ids;
  const userId = `buyer ${orderId}`;
  const attempt = await beginAttempt(shop, provider, orderId);
  return { orderId, userId, attempt };
}

/** What closed it, if it closed. */
export async function closeCauseOf(shop: Shop, orderId: string): Promise<string | undefined> {
  const last = (await shop.orders.readTimeline(orderId))?.transitions.at(-1);
  return last?.toStatus === 'TIMEOUT_CLOSED' ? last.cause : undefined;
}

/** The order's deadline is now: moved, and not waited for, so that a slow machine still gets to pay in time. */
export async function reachDeadline(shop: Shop, orderId: string): Promise<void> {
  const id = Buffer.from(orderId.replaceAll('-', ''), 'hex');
  await shop.query(
    `UPDATE orders o JOIN activity a ON a.id = o.activity_id
     SET o.expires_at = NOW(3), o.settle_until = NOW(3) + INTERVAL a.payment_grace_ms * 1000 MICROSECOND
     WHERE o.id = ?`,
    [id],
  );
  await shop.query(
    "UPDATE payment_attempt SET settle_at = NOW(3) WHERE order_id = ? AND state <> 'CREATING'",
    [id],
  );
}

/** As the producer does it. */
export async function beginAttempt(
  shop: Shop,
  provider: PaymentProvider,
  orderId: string,
): Promise<PaymentAttempt> {
  const opened = await shop.orders.openAttempt({
    orderId,
    userId: `buyer ${orderId}`,
    provider: provider.name,
  });
  if (opened.kind !== 'open') throw new Error(`no attempt: ${opened.kind}`);
  const { id, amountMinor, currency } = opened.attempt;
  const created = await provider.createAttempt({ attemptId: id, orderId, amountMinor, currency });
  const attempt = await shop.orders.markAttemptOpen(id, created);
  if (attempt?.state !== 'OPEN') throw new Error('the attempt did not open');
  return attempt;
}

/** The provider's webhook of a capture. */
export function captureEvent(
  provider: PaymentProvider,
  { orderId, attempt }: Pick<BeingPaid, 'orderId' | 'attempt'>,
  capture: Capture,
  change: Partial<PaymentEvent> = {},
): PaymentEvent {
  return {
    eventId: `evt-${capture.paymentId}`,
    type: 'payment.captured',
    provider: provider.name,
    providerRef: attempt.providerRef,
    orderId,
    paymentId: capture.paymentId,
    amountMinor: capture.amountMinor,
    currency: capture.currency,
    occurredAt: capture.capturedAt,
    ...change,
  };
}

/** As the producer does it: record, then tell Redis. */
export async function recordAndApply(shop: Shop, event: PaymentEvent): Promise<PaymentResult['outcome']> {
  const { outcome, effect } = await shop.orders.recordPayment(event);
  if (effect) await applyEffects({ ...shop, log }, [effect]);
  return outcome;
}

/** One run of settling, with all that it closes closed. */
export async function settleOnce(shop: Shop, provider: PaymentProvider): Promise<void> {
  const lane = openCloseLane({ orders: shop.orders, stock: shop.stock, log });
  const { orders, stock } = shop;
  await settleAttempts({ orders, stock, provider, closeOrder: lane.closeOrder, config, log })(signal);
  await lane.close();
}

export async function refundOnce(shop: Shop, provider: PaymentProvider): Promise<void> {
  await payRefunds({ orders: shop.orders, provider, config, log })(signal);
}

export async function closeAndRelease(shop: Shop, ids: readonly string[]) {
  const result = await shop.orders.closeExpired(ids, { cause: 'message' });
  await applyEffects({ ...shop, log }, result.effects);
  return result;
}

/** Bring Redis up to MySQL, as the sweeper does; closed notices are turned into notices. */
export async function comeToRest(shop: Shop): Promise<void> {
  for (let round = 0; round < 20; round += 1) {
    const effects = await shop.orders.listPendingEffects({ olderThanMs: 0, limit: 1_000 });
    if (effects.length === 0) break;
    await applyEffects({ ...shop, log }, effects);
  }
  await shop.orders.expandClosedNotices(10_000);
}

export async function statusOf(shop: Shop, orderId: string): Promise<string | undefined> {
  return (await shop.orders.readOrder(orderId))?.status;
}

/** States of the order's payments, sorted. */
export async function moneyOf(shop: Shop, orderId: string): Promise<string[]> {
  const timeline = await shop.orders.readTimeline(orderId);
  return (timeline?.payments ?? []).map(({ state }) => state).sort();
}
