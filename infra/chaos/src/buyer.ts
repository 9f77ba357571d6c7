import { randomUUID } from 'node:crypto';
import type { OrderView } from '@lapse/contracts';
import { sleep } from '@lapse/runtime';
import { type ApiClient, newEventId, orderOf } from './api-client.ts';
import type { Ledger, Payment, Purchase } from './ledger.ts';
import type { Random } from './random.ts';

export interface BuyerPlan {
  readonly user: string;
  readonly activityId: number;
  readonly quantity: number;
  /** `pay-at-provider`: by an attempt, at the simulator; the others pay as a shop's own provider reports it. */
  readonly does:
    | 'pay-at-provider'
    | 'pay'
    | 'pay-twice'
    | 'pay-late'
    | 'pay-at-deadline'
    | 'pay-wrong'
    | 'cancel'
    | 'lapse';
  /** Share of the pay window that passes before the buyer acts. */
  readonly thinkShare: number;
}

export interface BuyerParts {
  readonly api: ApiClient;
  readonly ledger: Ledger;
  readonly random: Random;
  /** Buyers go away then. */
  readonly closing: AbortSignal;
  /** The provider gives up then: a payment that the shop has not accepted by now is stuck. */
  readonly giveUp: AbortSignal;
  /** Told once the buyer has an answer, or has gone away. */
  readonly onBought: () => void;
}

/** A buyer tries so often before going away; then nobody knows whether there is an order. */
const buyTriesMax = 25;
const againMs = { from: 200, to: 1_000 } as const;
const lateByMsMax = 4_000;
const atDeadlineMs = 60;
const abandonedShare = 0.3;
const typingMsMax = 4_000;

/** One buyer: buys, then pays, cancels or lets the order lapse. Everything promised goes into the ledger. */
export async function liveAsBuyer(parts: BuyerParts, plan: BuyerPlan): Promise<void> {
  const token = await parts.api.mintToken(plan.user);
  const order = await buy(parts, plan, token);
  parts.onBought();
  if (order === undefined || plan.does === 'lapse') return;
  const deadline = Date.parse(order.expiresAt);
  const windowMs = deadline - Date.parse(order.createdAt);
  const waits: Record<typeof plan.does, number> = {
    pay: Date.parse(order.createdAt) + windowMs * plan.thinkShare,
    'pay-at-provider': Date.parse(order.createdAt) + windowMs * plan.thinkShare,
    'pay-twice': Date.parse(order.createdAt) + windowMs * plan.thinkShare,
    'pay-wrong': Date.parse(order.createdAt) + windowMs * plan.thinkShare,
    cancel: Date.parse(order.createdAt) + windowMs * plan.thinkShare,
    'pay-at-deadline': deadline - parts.random.next() * atDeadlineMs,
    'pay-late': deadline + parts.random.next() * lateByMsMax,
  };
  await sleep(waits[plan.does] - Date.now(), parts.closing);
  if (plan.does === 'cancel') await cancel(parts, token, order.id);
  else if (plan.does === 'pay-at-provider') await payAtProvider(parts, token, order.id);
  else await pay(parts, order, plan.does);
}

async function buy(parts: BuyerParts, plan: BuyerPlan, token: string): Promise<OrderView | undefined> {
  const { user, activityId, quantity } = plan;
  const purchase: Purchase = {
    user,
    activityId,
    quantity,
    key: randomUUID(),
    orders: new Map(),
    refused: undefined,
  };
  parts.ledger.purchases.push(purchase);
  for (let tries = 1; tries <= buyTriesMax && !parts.closing.aborted; tries += 1) {
    const answer = await parts.api.createOrder(token, activityId, quantity, purchase.key);
    const order = orderOf(answer);
    if (order !== undefined) {
      purchase.orders.set(order.id, order);
      // Some ask again, as an app that was closed and opened does: the same answer must come.
      if (parts.random.chance(0.1)) {
        const again = orderOf(await parts.api.createOrder(token, activityId, quantity, purchase.key));
        if (again !== undefined) purchase.orders.set(again.id, again);
      }
      return order;
    }
    if (answer.kind === 'refused') {
      if (tries === 1) purchase.refused = answer.code;
      return undefined;
    }
    await pause(parts);
  }
  return undefined;
}

/** Begin an attempt, go to the provider's page, and pay there. What was captured is in the provider's own ledger. */
async function payAtProvider(parts: BuyerParts, token: string, orderId: string): Promise<void> {
  let payUrl: string | undefined;
  while (payUrl === undefined && !parts.closing.aborted) {
    const answer = await parts.api.payOrder(token, orderId);
    if (answer.kind === 'refused') return;
    if (answer.kind === 'ok') payUrl = (answer.body as { payUrl: string }).payUrl;
    else await pause(parts);
  }
  // Some are on the page and never pay; the attempt stays open until the deadline.
  if (payUrl === undefined || parts.random.chance(abandonedShare)) return;
  await sleep(parts.random.next() * typingMsMax, parts.closing);
  while (!parts.closing.aborted && (await parts.api.payAtProvider(payUrl)).kind === 'none')
    await pause(parts);
}

async function pay(parts: BuyerParts, order: OrderView, how: BuyerPlan['does']): Promise<void> {
  const right = how !== 'pay-wrong';
  const payment: Payment = {
    paymentId: `pay_${randomUUID()}`,
    orderId: order.id,
    amountMinor: right ? order.amountMinor : order.amountMinor + 1,
    right,
    outcomes: [],
  };
  parts.ledger.payments.push(payment);
  // A second capture of a buyer who clicked twice is another payment of the same order.
  const second: Payment | undefined =
    how === 'pay-twice' && parts.random.chance(0.5)
      ? { ...payment, paymentId: `pay_${randomUUID()}`, outcomes: [] }
      : undefined;
  if (second !== undefined) parts.ledger.payments.push(second);
  const deliveries = how === 'pay-twice' ? parts.random.whole(2, 4) : 1;
  const eventId = newEventId();
  const events = Array.from({ length: deliveries }, (_, i) => (i < 2 ? eventId : newEventId()));
  await Promise.all([
    ...events.map((id) => deliver(parts, payment, order.currency, id)),
    ...(second === undefined ? [] : [deliver(parts, second, order.currency, newEventId())]),
  ]);
}

/** As a provider does: again and again, until the shop says that it has it. */
async function deliver(
  parts: BuyerParts,
  payment: Payment,
  currency: string,
  eventId: string,
): Promise<void> {
  const { paymentId, orderId, amountMinor } = payment;
  const body = {
    type: 'payment.captured',
    timestamp: new Date().toISOString(),
    data: { paymentId, orderId, amountMinor, currency },
  } as const;
  for (;;) {
    const answer = await parts.api.sendEvent(eventId, body);
    if (answer.kind === 'ok') {
      payment.outcomes.push((answer.body as { outcome: string }).outcome);
      return;
    }
    if (parts.giveUp.aborted) return;
    await pause(parts);
  }
}

async function cancel(parts: BuyerParts, token: string, orderId: string): Promise<void> {
  const cancellation = { orderId, answered: undefined as string | undefined };
  parts.ledger.cancellations.push(cancellation);
  while (!parts.closing.aborted) {
    const answer = await parts.api.cancelOrder(token, orderId);
    if (answer.kind !== 'none') {
      cancellation.answered = answer.kind === 'ok' ? 'CANCELLED' : answer.code;
      return;
    }
    await pause(parts);
  }
}

async function pause({ random }: BuyerParts): Promise<void> {
  await sleep(random.whole(againMs.from, againMs.to));
}
