import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { captureOf, createActivity, type Fixture, type LogLine, newOrder, openFixture } from './fixture.ts';

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
