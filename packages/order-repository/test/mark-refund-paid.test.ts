import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OperatorRequest, RefundPaidByHand, StoredAnswer } from '../src/index.ts';
import { captureOf, createActivity, createDueOrders, type Fixture, openFixture } from './fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());

const byBoss: OperatorRequest = { actor: 'boss', reason: 'paid by bank transfer' };
const withKey = (key: string): OperatorRequest => ({
  ...byBoss,
  idempotency: { key, requestHash: Buffer.alloc(32, 1) },
});
const answer = (paid: RefundPaidByHand): StoredAnswer => ({
  status: 200,
  body: Buffer.from(JSON.stringify(paid)),
});
const mark = (id: number, request = byBoss, reference: string | null = null) =>
  fixture.repository.markRefundPaid({ id, reference }, request, answer);
const claim = (provider: string, leaseMs = 60_000) =>
  fixture.repository.claimRefunds({ provider, limit: 100, leaseMs });

/** A payment that came after the close, and the number of its row. */
async function owedRefund(provider: string | null = null): Promise<{ id: number; orderId: string }> {
  const [order] = await createDueOrders(fixture.repository, await createActivity(fixture.repository), 1);
  if (!order) throw new Error('an order was created');
  await fixture.repository.closeExpired([order.id], { cause: 'message' });
  await fixture.repository.recordPayment(captureOf(order, { provider }));
  const [row] = await fixture.query('SELECT id FROM payment WHERE payment_id = ?', [`payment-${order.id}`]);
  return { id: Number(row?.id), orderId: order.id };
}
const given = <Job>(job: Job | undefined): Job => {
  if (job === undefined) throw new Error('no refund is due');
  return job;
};
const rowOf = async (id: number) =>
  (await fixture.repository.listRefunds({ state: 'REFUNDED', afterId: id - 1, limit: 1 }))[0];

describe('a refund that a person has paid', () => {
  it('is asked of no provider any more, also of one that is set up later; actor and reason are kept', async () => {
    const { id, orderId } = await owedRefund();
    expect(await mark(id, byBoss, 'SEPA-1')).toMatchObject({
      kind: 'done',
      result: {
        id,
        orderId,
        paymentId: `payment-${orderId}`,
        amountMinor: 1_500,
        refundRef: 'by-hand:SEPA-1',
      },
    });
    expect(await claim('set-up-later')).toEqual([]);
    expect(await rowOf(id)).toMatchObject({ id, refundRef: 'by-hand:SEPA-1', refundedAt: expect.any(Date) });
    const actions = await fixture.query(
      "SELECT actor, action, reason FROM operator_action WHERE target = ? AND target_kind = 'order'",
      [orderId],
    );
    expect(actions.map(({ actor, action, reason }) => [String(actor), action, reason])).toEqual([
      ['boss', 'refund.paid_by_hand', 'paid by bank transfer'],
    ]);
  });

  it('negative control: not marked, a provider that is set up later pays it again', async () => {
    const { id } = await owedRefund();
    const claimed = await claim('set-up-later');
    expect(claimed.map((refund) => refund.id)).toEqual([id]);
    for (const { id: claimedId, refundId } of claimed) {
      await fixture.repository.finishRefund(claimedId, { refundId, refundRef: 'r' });
    }
  });

  it('may be one of a former provider, which nobody claims', async () => {
    const { id } = await owedRefund('former');
    expect(await claim('present')).toEqual([]);
    expect(await mark(id)).toMatchObject({ kind: 'done', result: { refundRef: 'by-hand' } });
    expect(await claim('former')).toEqual([]);
  });

  it('may be one that its provider refuses, because it went back already', async () => {
    const { id } = await owedRefund('strict');
    const [claimed] = await claim('strict');
    await fixture.repository.failRefund(given(claimed), {
      inMs: 3_600_000,
      error: 'charge_already_refunded',
    });
    expect((await mark(id)).kind).toBe('done');
    expect(await rowOf(id)).toMatchObject({ lastError: null, nextTryAt: null });
  });

  it('is marked once, whoever asks; with a key the repeat gets the same bytes', async () => {
    const { id } = await owedRefund();
    const answers = await Promise.all([1, 2, 3, 4].map(() => mark(id, withKey(`key-${id}`))));
    expect(answers.map(({ kind }) => kind).sort()).toEqual(['done', 'replayed', 'replayed', 'replayed']);
    const bodies = answers.map((each) => ('answer' in each ? each.answer.body.toString() : ''));
    expect(new Set(bodies).size).toBe(1);
    const other = {
      ...withKey(`key-${id}`),
      idempotency: { key: `key-${id}`, requestHash: Buffer.alloc(32) },
    };
    expect(await mark(id, other)).toEqual({ kind: 'key_reused' });
    expect(await mark(id)).toEqual({ kind: 'refused', result: { kind: 'not_owed', state: 'REFUNDED' } });
  });

  it('is not one that the settler has in hand; once it is handed back, or its lease is over, it is', async () => {
    const { id } = await owedRefund('busy');
    const [claimed] = await claim('busy');
    const { refundId } = given(claimed);
    const refused = await mark(id);
    expect(refused).toMatchObject({ kind: 'refused', result: { kind: 'being_paid' } });
    if (refused.kind !== 'refused' || refused.result.kind !== 'being_paid') throw new Error(refused.kind);
    expect(refused.result.forMs).toBeGreaterThan(30_000);
    await fixture.repository.failRefund(given(claimed), { inMs: 0, error: 'handed back' });
    expect((await mark(id)).kind).toBe('done');
    // The settler's late answer finds nothing to do.
    expect(await fixture.repository.finishRefund(id, { refundId, refundRef: 'late' })).toBe('superseded');
    expect(await rowOf(id)).toMatchObject({ refundRef: 'by-hand' });
  });

  it('is not one of which nothing is owed, or that is not there', async () => {
    expect(await mark(999_999)).toEqual({ kind: 'refused', result: { kind: 'not_found' } });
    const [order] = await createDueOrders(fixture.repository, await createActivity(fixture.repository), 1);
    if (!order) throw new Error('an order was created');
    await fixture.repository.recordPayment(captureOf(order));
    const [row] = await fixture.query('SELECT id FROM payment WHERE payment_id = ?', [`payment-${order.id}`]);
    expect(await mark(Number(row?.id))).toEqual({
      kind: 'refused',
      result: { kind: 'not_owed', state: 'CAPTURED' },
    });
  });

  it('is told to the shop, as every refund', async () => {
    const { id, orderId } = await owedRefund();
    const withShop = await fixture.openAnother({ shopEvents: true });
    await withShop.markRefundPaid({ id, reference: null }, byBoss, answer);
    await withShop.expandShopEvents(100);
    const events = await fixture.query('SELECT type FROM shop_event WHERE order_id = ? ORDER BY seq', [
      Buffer.from(orderId.replaceAll('-', ''), 'hex'),
    ]);
    expect(events.map(({ type }) => type)).toEqual(['created', 'closed', 'refunded']);
  });
});
