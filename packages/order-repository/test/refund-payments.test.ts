import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RefundRecord, RefundState } from '../src/index.ts';
import { createActivity, type Fixture, newOrder, noAnswer, openFixture, outcomesOf } from './fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());

const asked = { dryRun: false, actor: 'boss', reason: 'the buyer wrote' };
const provider = 'bank';
const claim = { provider, limit: 100, leaseMs: 60_000 };

/** An order, and a payment of one unit less than it asks for. */
async function quarantine(): Promise<{ orderId: string; payment: RefundRecord }> {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const order = newOrder(activity);
  await repository.createOrders([order]);
  const { outcome } = await repository.recordPayment({
    eventId: `evt ${order.id}`,
    type: 'payment.captured',
    paymentId: `pay ${order.id}`,
    orderId: order.id,
    amountMinor: order.amountMinor - 1,
    currency: 'EUR',
    occurredAt: new Date(),
    provider,
  });
  expect(outcome).toBe('quarantined');
  return { orderId: order.id, payment: await read('QUARANTINED', order.id) };
}

async function read(state: RefundState, orderId: string): Promise<RefundRecord> {
  const all = await fixture.repository.listRefunds({ state, afterId: 0, limit: 1_000 });
  const found = all.find((refund) => refund.orderId === orderId);
  if (!found) throw new Error(`no payment of ${orderId} is ${state}`);
  return found;
}

const refund = (id: number, options = asked) =>
  outcomesOf(fixture.repository.refundPayments([id], options, noAnswer));

/** As a settler does it. */
async function pay(orderId: string): Promise<{ id: number; refundId: string; paymentId: string }> {
  const jobs = await fixture.repository.claimRefunds(claim);
  const job = jobs.find((each) => each.orderId === orderId);
  if (!job) throw new Error('no refund is due');
  const { id, refundId } = job;
  expect(await fixture.repository.finishRefund(id, { refundId, refundRef: `re ${refundId}` })).toBe(
    'finished',
  );
  return job;
}

const fails = (paymentId: string, refundId: string) =>
  fixture.repository.recordRefundFailure({ paymentId, refundId, refundRef: null, reason: 'card closed' });

async function findingsOf(orderId: string) {
  const findings = await fixture.repository.listFindings({ limit: 200 });
  return findings.filter(({ detail }) => JSON.parse(detail).orderId === orderId);
}

test('quarantined money is paid back once however often it is asked for: what was captured, in its currency', async () => {
  const { orderId, payment } = await quarantine();
  expect(await refund(payment.id, { ...asked, dryRun: true })).toMatchObject([
    { kind: 'refund_due', changed: false, amountMinor: payment.amountMinor, currency: 'EUR' },
  ]);
  expect((await read('QUARANTINED', orderId)).refundId).toBeNull();

  const answers = (await Promise.all(Array.from({ length: 5 }, () => refund(payment.id)))).flat();
  expect(answers.filter(({ changed }) => changed)).toMatchObject([{ kind: 'refund_due', orderId }]);
  expect(answers.filter(({ changed }) => !changed)).toMatchObject(
    Array.from({ length: 4 }, () => ({ kind: 'not_refundable', state: 'REFUND_PENDING' })),
  );
  const jobs = await fixture.repository.claimRefunds(claim);
  expect(jobs.filter((job) => job.orderId === orderId)).toMatchObject([
    { amountMinor: payment.amountMinor, currency: 'EUR', paymentId: payment.paymentId, tries: 1 },
  ]);
  const { actions } = (await fixture.repository.readTimeline(orderId)) ?? {};
  expect(actions).toMatchObject([{ actor: 'boss', action: 'payment.refund', reason: asked.reason }]);
});

test('money that is kept, on its way back or paid back is left alone, and what is not there is said to be so', async () => {
  const { orderId, payment } = await quarantine();
  await refund(payment.id);
  await pay(orderId);
  expect(await refund(payment.id)).toEqual([
    { id: payment.id, changed: false, kind: 'not_refundable', state: 'REFUNDED' },
  ]);
  await fixture.query("UPDATE payment SET state = 'CAPTURED' WHERE id = ?", [payment.id]);
  expect(await refund(payment.id)).toMatchObject([{ kind: 'not_refundable', state: 'CAPTURED' }]);
  await fixture.query("UPDATE payment SET state = 'REFUNDED' WHERE id = ?", [payment.id]);
  expect(await refund(999_999)).toEqual([{ id: 999_999, changed: false, kind: 'not_found' }]);
});

test('a refund that failed at the provider is a finding, and is made anew by the same route under another id', async () => {
  const { orderId, payment } = await quarantine();
  await refund(payment.id);
  const first = await pay(orderId);
  expect(await fails(payment.paymentId, first.refundId)).toBe('refund_failed');
  expect(await fails(payment.paymentId, first.refundId)).toBe('duplicate');
  expect(await read('REFUND_FAILED', orderId)).toMatchObject({ lastError: 'card closed', refundedAt: null });
  expect(await findingsOf(orderId)).toMatchObject([{ kind: 'refund_failed', healedAt: null }]);
  expect((await fixture.repository.readPaymentBacklog()).refundsFailed).toBe(1);

  expect(await refund(payment.id)).toMatchObject([{ kind: 'refund_due', changed: true }]);
  expect(await findingsOf(orderId)).toMatchObject([{ healedAt: expect.any(Date) }]);
  const second = await pay(orderId);
  expect(second.refundId).not.toBe(first.refundId);
  // Told once more, late: the refund that it names is not the one that was paid.
  expect(await fails(payment.paymentId, first.refundId)).toBe('ignored');
  expect((await read('REFUNDED', orderId)).refundRef).toBe(`re ${second.refundId}`);
});

test('a failure that is told before the settler has noted that the refund was taken still counts', async () => {
  const { orderId, payment } = await quarantine();
  await refund(payment.id);
  const job = (await fixture.repository.claimRefunds(claim)).find((each) => each.orderId === orderId);
  const { id = 0, refundId = '' } = job ?? {};
  expect(await fails(payment.paymentId, refundId)).toBe('refund_failed');
  expect(await fixture.repository.finishRefund(id, { refundId, refundRef: 'late' })).toBe('known');
  await read('REFUND_FAILED', orderId);
});

test('a settler that comes back with the answer of a refund that has failed since does not end the one made anew', async () => {
  const { orderId, payment } = await quarantine();
  await refund(payment.id);
  const job = (await fixture.repository.claimRefunds(claim)).find((each) => each.orderId === orderId);
  const { id = 0, refundId = '' } = job ?? {};
  await fails(payment.paymentId, refundId);
  await refund(payment.id);
  expect(await fixture.repository.finishRefund(id, { refundId, refundRef: 'late' })).toBe('superseded');
  const owed = await read('REFUND_PENDING', orderId);
  // Negative control: but for the id of the refund, the late answer would have ended it.
  const anew = owed.refundId ?? '';
  expect(await fixture.repository.finishRefund(id, { refundId: anew, refundRef: 'late' })).toBe('finished');
});

test('a settler that comes back after its lease, or to a refund made anew, frees nothing that another has in hand', async () => {
  const { orderId, payment } = await quarantine();
  await refund(payment.id);
  const { repository } = fixture;
  const take = async (leaseMs: number) => {
    const job = (await repository.claimRefunds({ ...claim, leaseMs })).find(
      (each) => each.orderId === orderId,
    );
    if (!job) throw new Error('no refund is due');
    return job;
  };
  const retry = { inMs: 0, error: 'an old settler' };
  const mark = async () =>
    (await repository.markRefundPaid({ id: payment.id, reference: null }, asked, noAnswer)).kind;

  const stoodStill = await take(0);
  const next = await take(60_000);
  await repository.failRefund(stoodStill, retry);
  expect(await mark()).toBe('refused');

  await fails(payment.paymentId, next.refundId);
  await refund(payment.id);
  const anew = await take(60_000);
  await repository.failRefund(next, retry);
  await repository.failRefund({ ...next, tries: anew.tries }, retry);
  expect(await mark()).toBe('refused');
  // Negative control: the settler that has it in hand frees it.
  await repository.failRefund(anew, retry);
  expect(await mark()).toBe('done');
  const { id, refundId } = anew;
  expect(await repository.finishRefund(id, { refundId, refundRef: 'late' })).toBe('superseded');
});

test('a refund that failed may be paid by hand instead: no finding is open then, and no later word undoes it', async () => {
  const { orderId, payment } = await quarantine();
  await refund(payment.id);
  const { refundId } = await pay(orderId);
  await fails(payment.paymentId, refundId);
  const byHand = { id: payment.id, reference: 'SEPA-1' };
  const marked = await fixture.repository.markRefundPaid(byHand, asked, noAnswer);
  expect(marked).toMatchObject({ kind: 'done', result: { refundRef: 'by-hand:SEPA-1' } });
  expect(await findingsOf(orderId)).toMatchObject([{ healedAt: expect.any(Date) }]);
  expect(await fails(payment.paymentId, refundId)).toBe('ignored');
  expect((await read('REFUNDED', orderId)).refundRef).toBe('by-hand:SEPA-1');
});

test.each([
  ['of a payment that nobody knows', async () => ({ paymentId: 'pay nobody' })],
  ['of a payment that is in quarantine', async () => ({ paymentId: (await quarantine()).payment.paymentId })],
])('a failure %s changes nothing', async (_, arrange) => {
  const { paymentId } = await arrange();
  expect(await fails(paymentId, '0198c0de-7000-7000-8000-000000000001')).toBe('ignored');
});
