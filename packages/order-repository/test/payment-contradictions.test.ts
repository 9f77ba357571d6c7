import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  captureOf,
  createActivity,
  type Fixture,
  type LogLine,
  newOrder,
  noAnswer,
  openFixture,
  outcomesOf,
} from './fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());
beforeEach(() => {
  fixture.logged.length = 0;
});

async function pendingOrder() {
  const order = newOrder(await createActivity(fixture.repository));
  await fixture.repository.createOrders([order]);
  return order;
}
const rowsOf = (paymentId: string) =>
  fixture.query(
    `SELECT type, LOWER(HEX(order_id)) AS id, amount_minor AS amount, state FROM payment
     WHERE payment_id = ? ORDER BY payment.id`,
    [paymentId],
  );
const record = async (...args: Parameters<Fixture['repository']['recordPayment']>) =>
  (await fixture.repository.recordPayment(...args)).outcome;
const errors = (): LogLine[] => fixture.logged.filter(({ level }) => level === 'error');
const hex = (id: string) => id.replaceAll('-', '');

describe('a capture that contradicts what came before it is quarantined, and no money vanishes', () => {
  it('under the id of an event that was another: kept once, alerted once, and refundable', async () => {
    const order = await pendingOrder();
    const failed = captureOf(order, { type: 'payment.failed' });
    expect(await record(failed)).toBe('ignored');
    const captured = captureOf(order);
    expect(captured.eventId).toBe(failed.eventId);
    expect(await record(captured)).toBe('quarantined');
    expect(await rowsOf(captured.paymentId)).toMatchObject([
      { type: 'payment.failed', state: 'FAILED' },
      { type: 'payment.captured', state: 'QUARANTINED', id: hex(order.id), amount: order.amountMinor },
    ]);
    // Again, under the same event or another one: it is the same money.
    expect(await record(captured)).toBe('duplicate');
    expect(await record({ ...captured, eventId: `twin-${order.id}` })).toBe('duplicate');
    expect(await rowsOf(captured.paymentId)).toHaveLength(2);
    expect(errors()).toEqual([{ level: 'error', message: 'a payment is quarantined: a person must look' }]);
    expect((await fixture.repository.readOrder(order.id))?.status).toBe('PENDING');
    expect(await fixture.repository.readPaymentBacklog()).toMatchObject({ quarantined: 1 });
  });

  it('for a second order, or of another amount: each in a row of its own, the first stays as it is', async () => {
    const [first, second] = [await pendingOrder(), await pendingOrder()];
    const paymentId = `shared-${first.id}`;
    const event = captureOf(first, { paymentId });
    expect(await record(event)).toBe('paid');
    const other = captureOf(second, { paymentId });
    const part = { ...event, eventId: `part-${first.id}`, amountMinor: event.amountMinor - 1 };
    for (const wrong of [other, part]) {
      expect(await record(wrong)).toBe('quarantined');
      expect(await record(wrong)).toBe('duplicate');
      expect(await record({ ...wrong, eventId: `again-${wrong.eventId}` })).toBe('duplicate');
    }
    expect(await record(event)).toBe('duplicate');
    expect(await rowsOf(paymentId)).toMatchObject([
      { id: hex(first.id), state: 'CAPTURED' },
      { id: hex(second.id), state: 'QUARANTINED' },
      { id: hex(first.id), amount: part.amountMinor, state: 'QUARANTINED' },
    ]);
    expect(errors()).toHaveLength(2);
    expect((await fixture.repository.readOrder(second.id))?.status).toBe('PENDING');
    // The second order is not lost to it: a payment of its own pays it.
    expect(await record(captureOf(second, { eventId: `own-${second.id}` }))).toBe('paid');
  });

  it('whose order is not there yet, at once with the first, and from both sides: one is taken, one quarantined', async () => {
    const order = await pendingOrder();
    const unknown = newOrder(await createActivity(fixture.repository));
    const paymentId = `early-${order.id}`;
    const events = [captureOf(order, { paymentId }), captureOf(unknown, { paymentId })];
    const outcomes = await Promise.all(events.map((event) => record(event)));
    expect([
      ['paid', 'quarantined'],
      ['quarantined', 'kept'],
    ]).toContainEqual(outcomes);
    expect(await rowsOf(paymentId)).toHaveLength(2);
    expect(await record(captureOf(order, { paymentId }))).toBe('duplicate');
  });

  it('but an event that says the payment failed is no money, and is passed over', async () => {
    const order = await pendingOrder();
    const event = captureOf(order);
    expect(await record(event)).toBe('paid');
    expect(await record({ ...event, type: 'payment.failed' })).toBe('duplicate');
    expect(await rowsOf(event.paymentId)).toHaveLength(1);
    expect(errors()).toEqual([]);
  });
});

describe('the money of one payment goes back once at most', () => {
  const asked = { dryRun: false, actor: 'boss', reason: 'the provider was wrong' };
  const refund = (ids: number[], options = asked) =>
    outcomesOf(fixture.repository.refundPayments(ids, options, noAnswer));
  const dismiss = (ids: number[], options = asked) =>
    outcomesOf(fixture.repository.dismissPayments(ids, options, noAnswer));
  const statesOf = async (paymentId: string) => (await rowsOf(paymentId)).map(({ state }) => state);
  const idsOf = async (paymentId: string) =>
    (await fixture.query('SELECT id FROM payment WHERE payment_id = ? ORDER BY id', [paymentId])).map(
      ({ id }) => Number(id),
    );

  /** Told for one order, then for another, then of another amount. `kept`: as the first order takes it. */
  async function contradicted(kept: 'paid' | 'kept' | 'quarantined') {
    const activity = await createActivity(fixture.repository);
    const first = kept === 'kept' ? newOrder(activity) : await pendingOrder();
    const event = captureOf(first, { paymentId: `twice-${first.id}` });
    if (kept === 'quarantined') event.amountMinor -= 1;
    expect(await record(event)).toBe(kept);
    const other = captureOf(await pendingOrder(), { paymentId: event.paymentId });
    expect(await record(other)).toBe('quarantined');
    expect(await record({ ...event, eventId: `part-${first.id}`, amountMinor: 40 })).toBe('quarantined');
    return { first, paymentId: event.paymentId, ids: await idsOf(event.paymentId) };
  }

  it.each([
    ['paid', 'CAPTURED'],
    ['kept', 'WAITING'],
  ] as const)(
    'not at all while an order is %s with it: the row that keeps it is named',
    async (how, state) => {
      const { first, paymentId, ids } = await contradicted(how);
      const [keeper = 0, ...wrong] = ids;
      for (const dryRun of [true, false]) {
        expect(await refund(wrong, { ...asked, dryRun })).toEqual(
          wrong.map((id) => ({
            ...{ id, changed: false, kind: 'contradicts', paymentId },
            other: { id: keeper, orderId: first.id, state },
          })),
        );
      }
      expect(await statesOf(paymentId)).toEqual([state, 'QUARANTINED', 'QUARANTINED']);
    },
  );

  it('of three that contradict each other one goes back, whoever asks and however many at once', async () => {
    const { paymentId, ids } = await contradicted('quarantined');
    const answers = (await Promise.all([ids, [...ids].reverse(), ids].map((each) => refund(each)))).flat();
    expect(answers.filter(({ changed }) => changed)).toHaveLength(1);
    expect((await statesOf(paymentId)).filter((state) => state === 'REFUND_PENDING')).toHaveLength(1);
  });

  it('what was no money is dismissed: nothing goes back, it is noted who said so, and no repeat revives it', async () => {
    const { first, paymentId, ids } = await contradicted('paid');
    const [keeper = 0, ...wrong] = ids;
    expect(await dismiss(wrong, { ...asked, dryRun: true })).toMatchObject([
      { kind: 'dismissed', changed: false },
      { kind: 'dismissed', changed: false },
    ]);
    expect(await dismiss([...wrong, keeper, 999_999])).toMatchObject([
      { kind: 'dismissed', changed: true },
      { kind: 'dismissed', changed: true },
      { kind: 'not_quarantined', changed: false, state: 'CAPTURED' },
      { kind: 'not_found', changed: false },
    ]);
    expect(await dismiss(wrong)).toMatchObject([{ state: 'DISMISSED' }, { state: 'DISMISSED' }]);
    const part = captureOf(first, { eventId: `part-${first.id}`, paymentId, amountMinor: 40 });
    expect(await record(part)).toBe('duplicate');
    expect(await statesOf(paymentId)).toEqual(['CAPTURED', 'DISMISSED', 'DISMISSED']);
    const { actions } = (await fixture.repository.readTimeline(first.id)) ?? {};
    expect(actions).toMatchObject([{ actor: 'boss', action: 'payment.dismiss', reason: asked.reason }]);
  });

  it('what was dismissed and is money after all may still go back', async () => {
    const { paymentId, ids } = await contradicted('quarantined');
    await dismiss(ids);
    expect(await refund(ids.slice(1, 2))).toMatchObject([{ kind: 'refund_due', changed: true }]);
    expect(await statesOf(paymentId)).toEqual(['DISMISSED', 'REFUND_PENDING', 'DISMISSED']);
  });
});
