import { refundList, refundPaidByHandView } from '@lapse/contracts';
import { queryDatabase } from '@lapse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestApi, openTestStores, paymentEvent, type TestApi, type TestStores } from './test-api.ts';

let stores: TestStores;
let api: TestApi;
let buyers = 0;
beforeAll(async () => {
  stores = await openTestStores();
  api = await openTestApi(stores);
});
afterAll(async () => {
  await api?.close();
  await stores?.close();
});

/** Money that came after its buyer had cancelled the order. */
async function owedRefund() {
  buyers += 1;
  const buyer = `late-${buyers}`;
  const activity = await api.createActivity();
  const order = (await api.placeOrder(activity.id, buyer, 'k')).json();
  await api.send({ method: 'POST', url: `/v1/orders/${order.id}/cancel`, as: buyer });
  await api.pay(paymentEvent(order));
  const reply = await api.send({ url: '/v1/ops/refunds', operator: true });
  const refund = refundList.parse(reply.json()).refunds.find(({ orderId }) => orderId === order.id);
  if (!refund) throw new Error('no refund is owed');
  return refund;
}
const mark = (id: number | string, body: object, headers: Record<string, string> = {}) =>
  api.send({
    method: 'POST',
    url: `/v1/ops/refunds/${id}/paid-by-hand`,
    operator: true,
    as: 'boss',
    body,
    headers,
  });
const because = { reason: 'paid by bank transfer' };

describe('marking a refund as paid by hand', () => {
  it('takes it out of what is owed, and keeps who did it and why', async () => {
    const { id, orderId, paymentId, amountMinor, currency } = await owedRefund();
    const reply = await mark(id, { ...because, reference: 'SEPA-1' });
    expect(reply.statusCode).toBe(200);
    expect(refundPaidByHandView.parse(reply.json())).toEqual({
      ...{ id, state: 'REFUNDED', orderId, paymentId, amountMinor, currency },
      refundRef: 'by-hand:SEPA-1',
    });
    const paid = refundList.parse(
      (await api.send({ url: '/v1/ops/refunds?state=REFUNDED', operator: true })).json(),
    );
    expect(paid.refunds).toEqual([expect.objectContaining({ id, refundRef: 'by-hand:SEPA-1' })]);
    const [action] = await queryDatabase(
      stores.mysqlUrl,
      "SELECT actor, reason FROM operator_action WHERE action = 'refund.paid_by_hand' AND target = ?",
      [orderId],
    );
    expect([String(action?.actor), action?.reason]).toEqual(['boss', because.reason]);
    const again = await mark(id, because);
    expect([again.statusCode, again.json().code, again.json().detail]).toEqual([
      409,
      'REFUND_NOT_OWED',
      'The payment is REFUNDED.',
    ]);
  });

  it('with a key answers a repeat in the same bytes; the key with another refund is refused', async () => {
    const [first, second] = [await owedRefund(), await owedRefund()];
    const key = { 'idempotency-key': 'mark-1' };
    const [reply, repeat] = [await mark(first.id, because, key), await mark(first.id, because, key)];
    expect([reply.statusCode, repeat.statusCode, repeat.body]).toEqual([200, 200, reply.body]);
    expect(repeat.headers['idempotent-replayed']).toBe('true');
    const reused = await mark(second.id, because, key);
    expect([reused.statusCode, reused.json().code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  });

  it('that the settler has in hand is answered 409, with the time to wait', async () => {
    const { id } = await owedRefund();
    await api.orders.claimRefunds({ provider: 'any', limit: 10, leaseMs: 20_000 });
    const reply = await mark(id, because);
    expect([reply.statusCode, reply.json().code]).toEqual([409, 'REFUND_IN_PROGRESS']);
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(10);
  });

  it('is for operators alone, and names what is not valid or not there', async () => {
    const url = '/v1/ops/refunds/1/paid-by-hand';
    const send = (as?: string) => api.send({ method: 'POST', url, as, body: because });
    expect((await send('ann')).json().code).toBe('FORBIDDEN');
    expect((await send()).json().code).toBe('UNAUTHENTICATED');
    expect((await mark(999_999, because)).json().code).toBe('REFUND_NOT_FOUND');
    for (const [id, body] of [
      ['0', because],
      ['1e3', because],
      [1, {}],
      [1, { ...because, reference: 'two words' }],
      [1, { ...because, amountMinor: 1 }],
    ] as const) {
      expect((await mark(id, body)).json().code).toBe('INVALID_REQUEST');
    }
  });
});
