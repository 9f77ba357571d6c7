import { type PaymentProvider, ProviderRefusedError, ProviderUnavailableError } from '@lapse/payments';
import { registry } from '@lapse/runtime';
import { createScriptedProvider, openShop, placeOrders, readStock, type Shop } from '@lapse/test-shop';
import { waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type BeingPaid,
  beginAttempt,
  beginPaying,
  captureEvent,
  closeAndRelease,
  closeCauseOf,
  moneyOf,
  reachDeadline,
  recordAndApply,
  settleOnce,
  statusOf,
} from './settler.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

const deadline = ({ orderId }: BeingPaid) => reachDeadline(shop, orderId);
const attemptOf = async ({ orderId, attempt }: BeingPaid) =>
  (await shop.orders.readTimeline(orderId))?.attempts.find(({ id }) => id === attempt.id);
const settleUntil = async ({ orderId }: BeingPaid) => {
  const [row] = await shop.query('SELECT settle_until FROM orders WHERE id = ?', [
    Buffer.from(orderId.replaceAll('-', ''), 'hex'),
  ]);
  return row?.settle_until;
};

test('an order that is being paid is not closed blindly: the provider had the money, and the order is PAID', async () => {
  const provider = createScriptedProvider();
  const being = await beginPaying(shop, provider);
  expect(provider.pay(being.attempt.id)).toBeDefined();
  await deadline(being);
  // Its webhook is late. The closer comes first, and leaves the order alone.
  const closing = await closeAndRelease(shop, [being.orderId]);
  expect(closing).toMatchObject({ closed: [], settling: [{ orderId: being.orderId }], contended: [] });
  expect(closing.settling[0]?.dueInMs).toBeLessThanOrEqual(30_000);
  expect((await shop.orders.closeOverdue({ graceMs: 0, limit: 100 })).closed).toEqual([]);

  await settleOnce(shop, provider);

  expect(await statusOf(shop, being.orderId)).toBe('PAID');
  expect(await attemptOf(being)).toMatchObject({ state: 'CAPTURED', tries: 1 });
  expect(await readStock(shop, being.activity.id)).toEqual({ mysql: 0, redis: 0, held: 0 });
});

test('an attempt that nobody paid is cancelled at its provider, and the order closes at once after that', async () => {
  const provider = createScriptedProvider();
  const being = await beginPaying(shop, provider);
  await deadline(being);
  let cancelledAtMs = 0;
  provider.onCancelled = async () => {
    cancelledAtMs = performance.now();
  };
  await settleOnce(shop, provider);
  const closedAfterMs = Math.round(performance.now() - cancelledAtMs);
  process.stdout.write(`closed ${closedAfterMs} ms after its attempt was cancelled at the provider\n`);
  expect(await statusOf(shop, being.orderId)).toBe('TIMEOUT_CLOSED');
  expect(await attemptOf(being)).toMatchObject({ state: 'CANCELLED', endedAt: expect.any(Date) });
  expect(await settleUntil(being)).toBeNull();
  expect(await closeCauseOf(shop, being.orderId)).toBe('settle');
  expect(provider.pay(being.attempt.id)).toBeUndefined();
  expect(await readStock(shop, being.activity.id)).toEqual({ mysql: 1, redis: 1, held: 0 });
});

test('negative control: closed without asking the provider, the order of a buyer who paid in time loses its place', async () => {
  const provider = createScriptedProvider();
  const being = await beginPaying(shop, provider);
  const capture = provider.pay(being.attempt.id);
  if (!capture) throw new Error('not paid');
  await deadline(being);
  await shop.query('UPDATE orders SET settle_until = NULL WHERE activity_id = ?', [being.activity.id]);
  expect((await closeAndRelease(shop, [being.orderId])).closed).toHaveLength(1);
  expect(await recordAndApply(shop, captureEvent(provider, being, capture))).toBe('refund_pending');
});

test('a provider that is away holds an order for its grace and not longer; money that shows up then goes back', async () => {
  const provider = createScriptedProvider();
  const being = await beginPaying(shop, provider, { paymentGraceMs: 600 });
  const capture = provider.pay(being.attempt.id);
  if (!capture) throw new Error('not paid');
  await deadline(being);
  provider.away = true;
  await settleOnce(shop, provider);
  expect(await statusOf(shop, being.orderId)).toBe('PENDING');
  await waitUntil(
    async () => {
      await settleOnce(shop, provider);
      return (await statusOf(shop, being.orderId)) === 'TIMEOUT_CLOSED';
    },
    { what: 'the grace to be over', timeoutMs: 10_000 },
  );
  expect(await closeCauseOf(shop, being.orderId)).toBe('sweep');
  const order = await shop.orders.readOrder(being.orderId);
  const lateMs = (order?.closedAt?.getTime() ?? 0) - (order?.expiresAt.getTime() ?? 0);
  expect(lateMs).toBeGreaterThanOrEqual(600);
  expect(await attemptOf(being)).toMatchObject({ state: 'OPEN', lastError: expect.stringContaining('away') });

  provider.away = false;
  await waitUntil(
    async () => {
      await settleOnce(shop, provider);
      return (await attemptOf(being))?.state === 'CAPTURED';
    },
    { what: 'the attempt to be settled' },
  );
  expect(await moneyOf(shop, being.orderId)).toEqual(['REFUND_PENDING']);
  expect(await recordAndApply(shop, captureEvent(provider, being, capture))).toBe('duplicate');
});

test('an order that closes because its grace is over counts as late; one whose provider had decided does not', async () => {
  const provider = createScriptedProvider('late');
  const answering = (cancelAttempt: PaymentProvider['cancelAttempt']) => ({ ...provider, cancelAttempt });
  const undecided = [
    answering(async () => ({ kind: 'processing' })),
    answering(async () => {
      throw new ProviderUnavailableError('away');
    }),
    answering(async () => {
      throw new ProviderRefusedError('no such key');
    }),
  ];
  for (const asked of [provider, ...undecided]) {
    const being = await beginPaying(shop, provider, { paymentGraceMs: 0 });
    const before = await countedAsLate();
    await deadline(being);
    await settleOnce(shop, asked);
    const isDecided = asked === provider;
    expect(await closeCauseOf(shop, being.orderId)).toBe(isDecided ? 'settle' : 'sweep');
    expect((await countedAsLate()) - before).toBe(isDecided ? 0 : 1);
  }
});

test('an attempt that the provider refuses to begin is over, and its order closes at its deadline', async () => {
  const provider = createScriptedProvider('refuses-to-begin');
  const being = await beginPaying(shop, provider);
  await deadline(being);
  await shop.query(
    "UPDATE payment_attempt SET state = 'CREATING', provider_ref = NULL, settle_at = NOW(3) WHERE id = ?",
    [Buffer.from(being.attempt.id.replaceAll('-', ''), 'hex')],
  );
  const refusing = {
    ...provider,
    createAttempt: async () => {
      throw new ProviderRefusedError('unknown currency');
    },
  };
  await settleOnce(shop, refusing);
  expect(await attemptOf(being)).toMatchObject({ state: 'FAILED' });
  expect(await closeCauseOf(shop, being.orderId)).toBe('settle');
});

test('an attempt whose creation got no answer is made by the same id, then cancelled: one attempt at the provider', async () => {
  const provider = createScriptedProvider();
  const being = await beginPaying(shop, provider);
  await settleNow(being);
  await settleOnce(shop, provider);
  const before = provider.attemptCount();
  provider.failNext('createAttempt', 1, 'after');
  await expect(beginAttempt(shop, provider, being.orderId)).rejects.toThrow('the answer is lost');
  const opened = await shop.orders.openAttempt({
    orderId: being.orderId,
    userId: being.userId,
    provider: provider.name,
  });
  if (opened.kind !== 'open') throw new Error(opened.kind);
  expect(opened.attempt).toMatchObject({ state: 'CREATING', providerRef: null });
  await settleNow(being);
  await settleOnce(shop, provider);
  expect(await attemptOf({ ...being, attempt: opened.attempt })).toMatchObject({
    state: 'CANCELLED',
    providerRef: expect.stringContaining('ref-'),
  });
  expect(provider.attemptCount()).toBe(before + 1);
  // Its deadline is a minute away: it may be paid by another attempt.
  expect(await statusOf(shop, being.orderId)).toBe('PENDING');
  expect((await beginAttempt(shop, provider, being.orderId)).id).not.toBe(opened.attempt.id);
});

test('a second call while an attempt is open gets the same attempt, whoever makes it', async () => {
  const provider = createScriptedProvider();
  const being = await beginPaying(shop, provider);
  const again = await Promise.all([1, 2, 3, 4].map(() => beginAttempt(shop, provider, being.orderId)));
  expect(new Set(again.map(({ id }) => id))).toEqual(new Set([being.attempt.id]));
  const { orderId } = being;
  expect(
    await shop.orders.openAttempt({ orderId, userId: 'somebody else', provider: provider.name }),
  ).toEqual({ kind: 'not_found' });
});

test('a buyer who cancels while paying is asked to wait for the provider; the repeat cancels, or finds the order paid', async () => {
  const provider = createScriptedProvider();
  for (const paid of [false, true]) {
    const being = await beginPaying(shop, provider);
    const cancel = () => shop.orders.cancelOrder(being.orderId, being.userId);
    if (paid) provider.pay(being.attempt.id);
    expect(await cancel()).toEqual({ kind: 'paying' });
    const { orderId, userId } = being;
    expect(await shop.orders.openAttempt({ orderId, userId, provider: provider.name })).toEqual({
      kind: 'settling',
    });
    await settleOnce(shop, provider);
    expect(await cancel()).toMatchObject({ kind: paid ? 'not_pending' : 'cancelled' });
    expect(await statusOf(shop, orderId)).toBe(paid ? 'PAID' : 'CANCELLED');
  }
});

test('a deadline that moved while the provider was asked is kept: the order stays open', async () => {
  const provider = createScriptedProvider();
  const being = await beginPaying(shop, provider);
  await deadline(being);
  provider.onCancelled = async () => {
    await shop.query('UPDATE orders SET expires_at = expires_at + INTERVAL 60 SECOND WHERE activity_id = ?', [
      being.activity.id,
    ]);
  };
  await settleOnce(shop, provider);
  expect(await statusOf(shop, being.orderId)).toBe('PENDING');
  expect(await attemptOf(being)).toMatchObject({ state: 'CANCELLED' });
  expect(await settleUntil(being)).toBeNull();
});

test('a dead provider is not asked for each of many attempts, and all are tried again later', async () => {
  const provider = createScriptedProvider();
  const { activity } = await beginPaying(shop, provider, { capacity: 60, paymentGraceMs: 0 });
  const { ids } = await placeOrders(shop, activity, 50, { remindInMs: -1, expireInMs: 60_000 });
  for (const orderId of ids) await beginAttempt(shop, provider, orderId);
  for (const orderId of ids) await reachDeadline(shop, orderId);
  let asked = 0;
  const dead = {
    ...provider,
    cancelAttempt: (ref: string) => {
      asked += 1;
      provider.away = true;
      return provider.cancelAttempt(ref);
    },
  };
  await settleOnce(shop, dead);
  expect(asked).toBeLessThanOrEqual(24);
  const waiting = await shop.count(
    "SELECT COUNT(*) FROM payment_attempt WHERE state = 'OPEN' AND claimed_until <= NOW(3) + INTERVAL 6 SECOND",
  );
  expect(waiting).toBeGreaterThanOrEqual(32);
  // Their graces end all the same, also those of the attempts that were not tried: a run has 32 of them in hand.
  await settleOnce(shop, dead);
  for (const orderId of ids) expect(await closeCauseOf(shop, orderId)).toBe('sweep');
});

test('an attempt that stays processing is asked about seldom once nobody waits for it, and never stands before one that is due', async () => {
  const provider = createScriptedProvider('debit');
  const being = await beginPaying(shop, provider);
  await deadline(being);
  let asked = 0;
  const undecided = {
    ...provider,
    cancelAttempt: async (ref: string) => {
      asked += 1;
      return ref === being.attempt.providerRef
        ? ({ kind: 'processing' } as const)
        : provider.cancelAttempt(ref);
    },
  };
  const nextLookInMs = async () => {
    const [row] = await shop.query(
      'SELECT TIMESTAMPDIFF(MICROSECOND, NOW(3), claimed_until) / 1000 AS inMs FROM payment_attempt WHERE id = ?',
      [Buffer.from(being.attempt.id.replaceAll('-', ''), 'hex')],
    );
    return Number(row?.inMs);
  };
  // While its order may wait for the answer: soon.
  await settleOnce(shop, undecided);
  expect(await nextLookInMs()).toBeLessThanOrEqual(5_000);
  expect(await attemptOf(being)).toMatchObject({
    state: 'OPEN',
    lastError: 'the provider does not know yet',
  });
  // Longer past its deadline than any grace is: seldom, however often it was asked about.
  await shop.query(
    'UPDATE payment_attempt SET settle_at = NOW(3) - INTERVAL 1 DAY, claimed_until = NULL WHERE order_id = ?',
    [Buffer.from(being.orderId.replaceAll('-', ''), 'hex')],
  );
  await settleOnce(shop, undecided);
  expect(await nextLookInMs()).toBeGreaterThan(55_000);
  const before = asked;
  await settleOnce(shop, undecided);
  expect(asked).toBe(before);
  // One that is due now is settled meanwhile.
  const due = await beginPaying(shop, provider);
  await deadline(due);
  await settleOnce(shop, undecided);
  expect(await statusOf(shop, due.orderId)).toBe('TIMEOUT_CLOSED');
});

test('an attempt that another process opens while its creation is refused here is settled by its reference', async () => {
  const provider = createScriptedProvider('stray');
  const being = await beginPaying(shop, provider, { paymentGraceMs: 0 });
  await deadline(being);
  await shop.query(
    "UPDATE payment_attempt SET state = 'CREATING', provider_ref = NULL, settle_at = NOW(3) WHERE id = ?",
    [Buffer.from(being.attempt.id.replaceAll('-', ''), 'hex')],
  );
  const { providerRef, payUrl, clientSecret } = being.attempt;
  const refusing = {
    ...provider,
    createAttempt: async () => {
      await shop.orders.markAttemptOpen(being.attempt.id, {
        providerRef: providerRef ?? '',
        payUrl,
        clientSecret,
      });
      throw new ProviderRefusedError('a stray 404');
    },
  };
  await settleOnce(shop, refusing);
  expect(await attemptOf(being)).toMatchObject({ state: 'OPEN', lastError: 'a stray 404' });
  // Nothing is decided: without a grace the order closes as late.
  expect(await closeCauseOf(shop, being.orderId)).toBe('sweep');
  await waitUntil(
    async () => {
      await settleOnce(shop, refusing);
      return (await attemptOf(being))?.state === 'CANCELLED';
    },
    { what: 'the attempt to be cancelled', timeoutMs: 10_000 },
  );
});

/** Orders whose lateness this process has measured. */
async function countedAsLate(): Promise<number> {
  const metric = await registry.getSingleMetric('lapse_close_lateness_seconds')?.get();
  const values = (metric?.values ?? []) as readonly {
    readonly metricName?: string;
    readonly value: number;
  }[];
  return values.find(({ metricName }) => metricName?.endsWith('_count'))?.value ?? 0;
}

/** Its time is up, as after a buyer's cancel; the order's own deadline is not. */
async function settleNow({ orderId }: BeingPaid): Promise<void> {
  await shop.query('UPDATE payment_attempt SET settle_at = NOW(3) WHERE order_id = ?', [
    Buffer.from(orderId.replaceAll('-', ''), 'hex'),
  ]);
}
