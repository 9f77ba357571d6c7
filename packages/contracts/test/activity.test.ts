import { describe, expect, it } from 'vitest';
import { createActivityBody, createOrderBody, payWithinMsMax } from '../src/index.ts';

const body = { name: 'Concert', capacity: 100, priceMinor: 5_000, currency: 'CNY' };

/** The fields that an invalid body's errors name. */
function faultsOf(input: unknown): string[] {
  const issues = createActivityBody.safeParse(input).error?.issues ?? [];
  return issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys : [issue.path.join('.') || '(body)'],
  );
}

describe('the body that creates an activity', () => {
  it('reminds after 10 minutes and closes after 15 unless told otherwise', () => {
    expect(createActivityBody.parse(body)).toEqual({
      ...body,
      saleStartsAt: null,
      saleEndsAt: null,
      payWithinMs: 900_000,
      remindAfterMs: 600_000,
      quantityMax: 1,
      latePaymentPolicy: 'refund',
      paymentGraceMs: 30_000,
    });
  });

  it('takes windows as text and as delay levels', () => {
    const parsed = createActivityBody.parse({ ...body, payWithinMs: 'level:14', remindAfterMs: '5m' });
    expect([parsed.payWithinMs, parsed.remindAfterMs]).toEqual([600_000, 300_000]);
  });

  it('takes a time in any zone, and keeps it in UTC with milliseconds', () => {
    const { saleStartsAt, saleEndsAt } = createActivityBody.parse({
      ...body,
      saleStartsAt: '2030-01-01T00:00:00+08:00',
      saleEndsAt: '2030-01-01T00:00:00Z',
    });
    expect([saleStartsAt, saleEndsAt]).toEqual(['2029-12-31T16:00:00.000Z', '2030-01-01T00:00:00.000Z']);
  });

  it('compares the ends of a sale as times, not as text', () => {
    const change = { saleStartsAt: '2030-01-01T08:00:00+08:00', saleEndsAt: '2030-01-01T01:00:00+02:00' };
    expect(faultsOf({ ...body, ...change })).toEqual(['saleEndsAt']);
  });

  it.each(['2030-01-01T00:00:00', '2030-01-01', '9999-12-31T23:30:00-01:00', '1969-12-31T23:59:59Z', 7])(
    'says once what a time looks like when given %j',
    (saleStartsAt) => {
      const { error } = createActivityBody.safeParse({ ...body, saleStartsAt });
      expect(error?.issues.map(({ message }) => message)).toEqual([
        expect.stringContaining('such as "2030-01-01T00:00:00Z"'),
      ]);
    },
  );

  it.each(['XXQ', 'cny', 'EURO'])('says that %s is no currency of ISO 4217, once', (currency) => {
    const { error } = createActivityBody.safeParse({ ...body, currency });
    expect(error?.issues.map(({ message }) => message)).toEqual([
      'must be a currency of ISO 4217 by its code, such as "CNY" or "EUR"',
    ]);
  });

  it.each([
    ['a reminder after the deadline', { payWithinMs: '8m', remindAfterMs: '10m' }, ['remindAfterMs']],
    ['a reminder at the deadline', { payWithinMs: '10m', remindAfterMs: '10m' }, ['remindAfterMs']],
    ['the default reminder after a short deadline', { payWithinMs: 60_000 }, ['remindAfterMs']],
    [
      'a sale that ends before it starts',
      { saleStartsAt: '2026-12-01T10:00:00Z', saleEndsAt: '2026-12-01T09:00:00Z' },
      ['saleEndsAt'],
    ],
    ['no places', { capacity: 0 }, ['capacity']],
    ['more places than a rebuild was measured with', { capacity: 1_000_001 }, ['capacity']],
    ['half a place', { capacity: 1.5 }, ['capacity']],
    ['places as text', { capacity: '100' }, ['capacity']],
    ['a price below zero', { priceMinor: -1 }, ['priceMinor']],
    ['a currency that is none', { currency: 'yuan' }, ['currency']],
    ['a blank name', { name: '   ' }, ['name']],
    ['a currency that has the form of one', { currency: 'XXQ' }, ['currency']],
    ['a local time', { saleStartsAt: '2026-12-01 10:00' }, ['saleStartsAt']],
    ['a pay window beyond 30 days', { payWithinMs: payWithinMsMax + 1 }, ['payWithinMs']],
    ['an unknown policy', { latePaymentPolicy: 'keep' }, ['latePaymentPolicy']],
    ['a grace beyond ten minutes', { paymentGraceMs: '11m' }, ['paymentGraceMs']],
    ['fields that it does not know', { generation: 7, available: 9 }, ['generation', 'available']],
  ])('refuses %s and names the field', (_name, change, fields) => {
    expect(faultsOf({ ...body, ...change })).toEqual(fields);
  });

  it.each([undefined, null, [], 'text', 7])('refuses %j', (input) => {
    expect(faultsOf(input)).toEqual(['(body)']);
  });
});

describe('the body that creates an order', () => {
  it('is one place unless told otherwise', () => {
    expect(createOrderBody.parse({})).toEqual({ quantity: 1 });
  });

  it.each([
    { quantity: 0 },
    { quantity: -1 },
    { quantity: 1.5 },
    { quantity: '1' },
    { quantity: 101 },
    { quantity: null },
    { userId: 'someone-else' },
  ])('refuses %j', (input) => {
    expect(createOrderBody.safeParse(input).success).toBe(false);
  });
});
