import { dismissOutcomes, findingList, orderTimeline, refundList, refundOutcomes } from '@lapse/contracts';
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestApi, openTestStores, paymentEvent, type TestApi, type TestStores } from './test-api.ts';

let stores: TestStores;
let api: TestApi;
beforeAll(async () => {
  stores = await openTestStores();
  api = await openTestApi(stores);
});
afterAll(async () => {
  await api?.close();
  await stores?.close();
});

const list = async (state: string) =>
  refundList.parse((await api.send({ url: `/v1/ops/refunds?state=${state}`, operator: true })).json());
const pay = (body: object, key?: string) =>
  api.send({
    method: 'POST',
    url: '/v1/ops/refunds/pay',
    operator: true,
    as: 'boss',
    body: { reason: 'the buyer wrote', ...body },
    ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
  });

/** An order that somebody paid one unit too little for. */
async function mispay() {
  const activity = await api.createActivity();
  const order = (await api.placeOrder(activity.id, 'ann', `k${activity.id}`)).json();
  const event = paymentEvent(order, { amountMinor: order.amountMinor - 1 });
  expect((await api.pay(event)).json().outcome).toBe('quarantined');
  const payment = (await list('QUARANTINED')).refunds.find(({ orderId }) => orderId === order.id);
  return { order, id: payment?.id ?? 0, payment };
}

/** The settler has paid it. @returns our id of the refund. */
async function settle(id: number): Promise<string> {
  const jobs = await api.orders.claimRefunds({ provider: 'none', limit: 100, leaseMs: 1_000 });
  const refundId = jobs.find((job) => job.id === id)?.refundId ?? '';
  expect(await api.orders.finishRefund(id, { refundId, refundRef: 're_1' })).toBe('finished');
  return refundId;
}
const refundFailed = (paymentId: string, refundId: string) => ({
  type: 'payment.refund_failed',
  timestamp: new Date().toISOString(),
  data: { paymentId, refundId, refundRef: 're_1', reason: 'the card is closed' },
});

describe('quarantined money', () => {
  it('is listed with what was captured, and why it was set aside', async () => {
    const { order, payment } = await mispay();
    expect(payment).toMatchObject({
      state: 'QUARANTINED',
      amountMinor: order.amountMinor - 1,
      currency: order.currency,
      reason: `the order is for ${order.amountMinor} ${order.currency}`,
      refundId: null,
    });
  });

  it('is paid back only when the dry run is off, once, and owed with what was captured', async () => {
    const { order, id } = await mispay();
    const amount = { amountMinor: order.amountMinor - 1, currency: order.currency };
    const due = { id, kind: 'refund_due', orderId: order.id, paymentId: `pay_${order.id}`, ...amount };
    const dry = refundOutcomes.parse((await pay({ ids: [id] })).json());
    expect(dry).toEqual({ dryRun: true, outcomes: [{ ...due, changed: false }] });
    expect((await list('REFUND_PENDING')).refunds.filter((refund) => refund.id === id)).toEqual([]);
    const done = refundOutcomes.parse((await pay({ ids: [id], dryRun: false })).json());
    expect(done.outcomes).toEqual([{ ...due, changed: true }]);
    const again = refundOutcomes.parse((await pay({ ids: [id, 999_999], dryRun: false })).json());
    expect(again.outcomes).toEqual([
      { id, changed: false, kind: 'not_refundable', state: 'REFUND_PENDING' },
      { id: 999_999, changed: false, kind: 'not_found' },
    ]);
    expect((await list('REFUND_PENDING')).refunds.find((refund) => refund.id === id)).toMatchObject(amount);
  });

  it('with a key: a repeat gets the same bytes, and another request with it is 422', async () => {
    const { id } = await mispay();
    const [first, second] = [
      await pay({ ids: [id], dryRun: false }, 'refund-1'),
      await pay({ ids: [id], dryRun: false }, 'refund-1'),
    ];
    expect(first.json().outcomes).toMatchObject([{ changed: true }]);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(second.rawPayload.equals(first.rawPayload)).toBe(true);
    const reused = await pay({ ids: [id, 1], dryRun: false }, 'refund-1');
    expect([reused.statusCode, reused.json().code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  });

  it('that contradicts a payment which is kept is not paid back, but dismissed, and seen as that', async () => {
    const activity = await api.createActivity();
    const [kept, other] = [
      (await api.placeOrder(activity.id, 'ann', 'k-kept')).json(),
      (await api.placeOrder(activity.id, 'ben', 'k-other')).json(),
    ];
    const paymentId = `pay_${kept.id}`;
    expect((await api.pay(paymentEvent(kept, { paymentId }))).json().outcome).toBe('paid');
    expect((await api.pay(paymentEvent(other, { paymentId }))).json().outcome).toBe('quarantined');
    const id = (await list('QUARANTINED')).refunds.find(({ orderId }) => orderId === other.id)?.id ?? 0;
    const refused = refundOutcomes.parse((await pay({ ids: [id], dryRun: false })).json());
    expect(refused.outcomes).toEqual([
      {
        ...{ id, changed: false, kind: 'contradicts', paymentId },
        other: { id: expect.any(Number), orderId: kept.id, state: 'CAPTURED' },
      },
    ]);
    const body = { ids: [id], dryRun: false, reason: 'the provider told a wrong order' };
    const dismissed = await api.send({
      ...{ method: 'POST', url: '/v1/ops/refunds/dismiss', operator: true, body },
    });
    expect(dismissOutcomes.parse(dismissed.json()).outcomes).toEqual([
      { id, changed: true, kind: 'dismissed', orderId: other.id, paymentId },
    ]);
    expect((await list('DISMISSED')).refunds).toMatchObject([{ id, refundId: null }]);
    const timeline = await api.send({ url: `/v1/orders/${other.id}/timeline`, as: 'ben' });
    expect(orderTimeline.parse(timeline.json()).events.map(({ what }) => what)).toEqual(
      expect.arrayContaining(['payment found to be no money, by an operator']),
    );
  });

  it.each(['pay', 'dismiss'])('is for operators alone: %s', async (name) => {
    const body = { ids: [1], reason: 'it is mine' };
    const reply = await api.send({ method: 'POST', url: `/v1/ops/refunds/${name}`, as: 'ann', body });
    expect(reply.json().code).toBe('FORBIDDEN');
  });
});

describe('a refund that the provider says has failed', () => {
  it('is a finding and in the list, is told once, and is made anew by the same route', async () => {
    const { order, id } = await mispay();
    await pay({ ids: [id], dryRun: false });
    const refundId = await settle(id);
    const event = refundFailed(`pay_${order.id}`, refundId);
    expect((await api.pay(event)).json()).toEqual({ outcome: 'refund_failed' });
    expect((await api.pay(event)).json()).toEqual({ outcome: 'duplicate' });
    expect((await list('REFUND_FAILED')).refunds).toMatchObject([{ id, lastError: 'the card is closed' }]);
    const findings = async () =>
      findingList.parse((await api.send({ url: '/v1/ops/findings', operator: true })).json()).findings;
    expect(await findings()).toMatchObject([{ kind: 'refund_failed', healedAt: null }]);

    expect((await pay({ ids: [id], dryRun: false })).json().outcomes).toMatchObject([{ changed: true }]);
    expect(await settle(id)).not.toBe(refundId);
    expect(await findings()).toMatchObject([{ healedAt: expect.any(String) }]);
    const timeline = await api.send({ url: `/v1/orders/${order.id}/timeline`, as: 'ann' });
    const { events } = orderTimeline.parse(timeline.json());
    expect(events.map(({ what }) => what).filter((what) => what.includes('refund'))).toEqual([
      expect.stringContaining('a refund is due'),
      'refund ordered by an operator',
      expect.stringContaining('refund failed at the provider'),
      'refund ordered by an operator',
      'payment refunded',
    ]);
  });

  it('that is none of ours is ignored; one that is not signed is refused', async () => {
    const event = refundFailed('pay_of_nobody', v7());
    expect((await api.pay(event)).json()).toEqual({ outcome: 'ignored' });
    const forged = await api.pay(event, { secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}` });
    expect(forged.json().code).toBe('SIGNATURE_INVALID');
  });
});
