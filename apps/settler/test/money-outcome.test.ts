import type { PaymentEvent } from '@lapse/order-repository';
import { createScriptedProvider, openActivity, openShop, type Shop } from '@lapse/test-shop';
import { checkInvariants, describeVerdict } from '@lapse/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  captureEvent,
  closeAndRelease,
  comeToRest,
  moneyOf,
  payIn,
  reachDeadline,
  recordAndApply,
  refundOnce,
  settleOnce,
  statusOf,
} from './settler.ts';

const runs = 200;

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

/** What the provider may tell of one order, in any order and any number of times. */
const kinds = ['captured', 'twin', 'failed', 'second', 'wrong'] as const;
type Kind = (typeof kinds)[number];

/**
 * Two captures of the right amount, of which one may keep the order and the other goes back, and one of another
 * amount, which a person must look at; whatever the sequence, and however often each is told.
 */
function outcomeOf(told: ReadonlySet<Kind>, before: 'pending' | 'closed' | 'cancelled'): string[] {
  const rightOnes = Number(told.has('captured') || told.has('twin')) + Number(told.has('second'));
  const kept = before === 'pending' ? Math.min(1, rightOnes) : 0;
  return [
    ...Array<string>(kept).fill('CAPTURED'),
    ...(told.has('failed') ? ['FAILED'] : []),
    ...(told.has('wrong') ? ['QUARANTINED'] : []),
    ...Array<string>(rightOnes - kept).fill('REFUNDED'),
  ].sort();
}

test(`any order and repetition of an order's events, some at once, end in one money outcome (${runs} runs) (case 8)`, async () => {
  const provider = createScriptedProvider('property');
  const activity = await openActivity(shop, runs * 2, { paymentGraceMs: 0 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 10 }),
      fc.constantFrom('pending' as const, 'closed' as const, 'cancelled' as const),
      fc.boolean(),
      async (told, before, atOnce) => {
        const being = await payIn(shop, provider, activity);
        const { orderId, userId } = being;
        const capture = provider.pay(being.attempt.id);
        if (!capture) throw new Error('not paid');
        const event = captureEvent(provider, being, capture);
        const events: Record<Kind, PaymentEvent> = {
          captured: event,
          twin: { ...event, eventId: `${event.eventId} twin` },
          failed: {
            ...event,
            eventId: `${event.eventId} failed`,
            type: 'payment.failed',
            occurredAt: new Date(0),
          },
          second: {
            ...event,
            eventId: `${event.eventId} second`,
            paymentId: `${event.paymentId} second`,
            providerRef: null,
          },
          wrong: {
            ...event,
            eventId: `${event.eventId} wrong`,
            paymentId: `${event.paymentId} wrong`,
            amountMinor: 1,
            providerRef: null,
          },
        };
        if (before !== 'pending') {
          await reachDeadline(shop, orderId);
          if (before === 'closed') await closeAndRelease(shop, [orderId]);
          else await cancelByHand(orderId, userId);
        }
        const tell = (kind: Kind) => recordAndApply(shop, events[kind]);
        if (atOnce) await Promise.all(told.map(tell));
        else for (const kind of told) await tell(kind);
        await refundOnce(shop, provider);
        expect(await moneyOf(shop, orderId)).toEqual(outcomeOf(new Set(told), before));
        const paid =
          before === 'pending' &&
          (told.includes('captured') || told.includes('twin') || told.includes('second'));
        const ended = before === 'closed' ? 'TIMEOUT_CLOSED' : 'CANCELLED';
        expect(await statusOf(shop, orderId)).toBe(paid ? 'PAID' : before === 'pending' ? 'PENDING' : ended);
      },
    ),
    { numRuns: runs },
  );
  await comeToRest(shop);
});

/** The attempt out of the way first, as if the provider had said that no money comes, and it then came. */
async function cancelByHand(orderId: string, userId: string): Promise<void> {
  const timeline = await shop.orders.readTimeline(orderId);
  for (const { id } of timeline?.attempts ?? []) await shop.orders.endAttempt(id, 'CANCELLED');
  expect((await shop.orders.cancelOrder(orderId, userId)).kind).toBe('cancelled');
}

test('pay at the provider, its webhook, close, sweep, settle and cancel, all at once, 500 times: the money is where the order is', async () => {
  const provider = createScriptedProvider('races');
  const rounds = 14;
  const ordersPerRound = 20;
  const ends: Record<string, number> = {};
  for (const latePaymentPolicy of ['refund', 'reacquire'] as const) {
    const activity = await openActivity(shop, rounds * ordersPerRound, {
      latePaymentPolicy,
      paymentGraceMs: 40,
    });
    for (let round = 0; round < rounds; round += 1) {
      if (round % 2 === (latePaymentPolicy === 'refund' ? 0 : 1)) continue;
      for (const half of [0, 1]) await race(activity, provider, ordersPerRound, half, ends);
    }
  }
  process.stdout.write(`races: ${JSON.stringify(ends)}\n`);
  expect(Object.values(ends).reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(500);
  expect(ends['PAID CAPTURED']).toBeGreaterThan(0);

  await comeToRest(shop);
  const verdict = await checkInvariants({
    mysqlUrl: shop.databaseUrl,
    redisUrl: shop.redisUrl,
    atRest: false,
  });
  expect(describeVerdict(verdict)).not.toContain('FAIL');
});

type Activity = Parameters<typeof payIn>[2];

async function race(
  activity: Activity,
  provider: ReturnType<typeof createScriptedProvider>,
  count: number,
  salt: number,
  ends: Record<string, number>,
): Promise<void> {
  const beings = [];
  for (let index = 0; index < count; index += 1) beings.push(await payIn(shop, provider, activity));
  for (const { orderId } of beings) await reachDeadline(shop, orderId);
  const ids = beings.map(({ orderId }) => orderId);
  // Half of the rounds with a provider that is away at first: then the grace ends, and money is late.
  provider.away = salt === 1;
  const pays = beings.map(async (being, index) => {
    await new Promise((resolve) => setTimeout(resolve, (index * 7 + salt * 3) % 60));
    const capture = index % 4 === 0 ? undefined : provider.pay(being.attempt.id);
    if (!capture || index % 4 === 1) return capture;
    const event = captureEvent(provider, being, capture);
    await Promise.all([1, 2].map(() => recordAndApply(shop, event)));
    return capture;
  });
  const closes = async () => {
    for (let time = 0; time < 6; time += 1) await closeAndRelease(shop, ids);
  };
  const sweeps = async () => {
    for (let time = 0; time < 3; time += 1) await shop.orders.closeOverdue({ graceMs: 0, limit: 100 });
  };
  const cancels = beings.slice(0, 5).map(({ orderId, userId }) => shop.orders.cancelOrder(orderId, userId));
  await Promise.all([
    ...pays,
    closes(),
    sweeps(),
    settleOnce(shop, provider),
    settleOnce(shop, provider),
    ...cancels,
  ]);
  provider.away = false;
  await shop.query('UPDATE payment_attempt SET claimed_until = NULL, settle_at = LEAST(settle_at, NOW(3))');
  await settleOnce(shop, provider);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await closeAndRelease(shop, ids);
  await shop.query(
    "UPDATE payment SET next_try_at = NOW(3), claimed_until = NULL WHERE state = 'REFUND_PENDING'",
  );
  await refundOnce(shop, provider);
  for (const [index, { orderId }] of beings.entries()) {
    const captured = (await pays[index]) !== undefined;
    const end = `${await statusOf(shop, orderId)} ${(await moneyOf(shop, orderId)).join('+') || 'no money'}`;
    ends[end] = (ends[end] ?? 0) + 1;
    const allowed = captured
      ? ['PAID CAPTURED', 'TIMEOUT_CLOSED REFUNDED', 'CANCELLED REFUNDED']
      : ['TIMEOUT_CLOSED no money', 'CANCELLED no money'];
    expect(allowed).toContain(end);
  }
}

test('negative control: a payment that does not compare the status pays an order that has given its place back', async () => {
  const provider = createScriptedProvider('naive');
  const activity = await openActivity(shop, 10, { paymentGraceMs: 0 });
  const being = await payIn(shop, provider, activity);
  await reachDeadline(shop, being.orderId);
  const id = Buffer.from(being.orderId.replaceAll('-', ''), 'hex');
  const [read] = await shop.query('SELECT status FROM orders WHERE id = ?', [id]);
  await closeAndRelease(shop, [being.orderId]);
  expect(read?.status).toBe('PENDING');
  await shop.query(
    "UPDATE orders SET status = 'PAID', version = version + 1, paid_at = NOW(3) WHERE id = ?",
    [id],
  );

  const { failed } = await checkInvariants({
    mysqlUrl: shop.databaseUrl,
    redisUrl: shop.redisUrl,
    atRest: false,
    activityIds: [activity.id],
  });
  expect(failed.map((check) => check.id)).toEqual(expect.arrayContaining(['I1', 'I6']));
  await settleOnce(shop, provider);
});
