import { describe, expect, test } from 'vitest';
import type { BookedOrder } from '../src/books.ts';
import type { Faults } from '../src/judge-ledger.ts';
import { judgeProvider, type ProviderLedger } from '../src/judge-provider.ts';

const order = { id: 'o1', status: 'PAID', amountMinor: 5, currency: 'CNY' } as BookedOrder;
const capture = {
  ...{ paymentId: 'p1', orderId: 'o1', amountMinor: 5, currency: 'CNY', providerRef: 'r1' },
  capturedAt: '2030-01-01T00:00:00.000Z',
};
const refund = {
  ...{ refundRef: 're1', refundId: 'x', paymentId: 'p1', amountMinor: 5, currency: 'CNY' },
  ...{ state: 'refunded' as const, requestedAt: '2030-01-01T00:00:00.000Z' },
};
const idle = { events: 0, payments: 0, refunds: 0 };

function judge(
  ledger: Partial<ProviderLedger>,
  state: string | undefined,
  changed: Partial<BookedOrder> = {},
  paidBackUnknown?: ReadonlySet<string>,
): Faults {
  const faults: Faults = { lost: [], twice: [], early: [], stuck: [] };
  const books = {
    orders: new Map([['o1', { ...order, ...changed }]]),
    payments: state === undefined ? [] : [{ paymentId: 'p1', orderId: 'o1', state }],
  };
  judgeProvider(
    { captures: [capture], refunds: [], waiting: idle, ...ledger },
    books,
    faults,
    paidBackUnknown,
  );
  return faults;
}

const nothing: Faults = { lost: [], twice: [], early: [], stuck: [] };
const closed = { status: 'TIMEOUT_CLOSED' };

describe("the provider's account", () => {
  test('agrees where money bought its order, went back once, or was not what was asked for', () => {
    expect(judge({}, 'CAPTURED')).toEqual(nothing);
    expect(judge({ refunds: [refund] }, 'REFUNDED', closed)).toEqual(nothing);
    expect(judge({ captures: [{ ...capture, amountMinor: 4 }] }, 'QUARANTINED', closed)).toEqual(nothing);
    expect(judge({ captures: [{ ...capture, currency: 'EUR' }] }, 'QUARANTINED', closed)).toEqual(nothing);
  });

  test.each<[string, keyof Faults, Partial<ProviderLedger>, string | undefined, Partial<BookedOrder>]>([
    ['money that the shop does not know', 'lost', {}, undefined, {}],
    ['money kept without a place', 'lost', {}, 'CAPTURED', closed],
    ['a refund that never was', 'lost', {}, 'REFUNDED', closed],
    ['a refund of a part', 'lost', { refunds: [{ ...refund, amountMinor: 4 }] }, 'REFUNDED', closed],
    ['two refunds', 'twice', { refunds: [refund, { ...refund, refundRef: 're2' }] }, 'REFUNDED', closed],
    ['a refund of money that is kept', 'twice', { refunds: [refund] }, 'CAPTURED', {}],
    ['a refund that is still due', 'stuck', {}, 'REFUND_PENDING', closed],
    ['a payment that waits for its order', 'stuck', {}, 'WAITING', {}],
    ['good money in quarantine', 'stuck', {}, 'QUARANTINED', {}],
    ['an event still to come', 'stuck', { waiting: { ...idle, events: 1 } }, 'CAPTURED', {}],
  ])('counts %s as %s', (_name, place, ledger, state, changed) => {
    const faults = judge(ledger, state, changed);
    expect(faults[place]).toHaveLength(1);
    expect({ ...faults, [place]: [] }).toEqual(nothing);
  });

  test('forgives a shop that lost its books what it had paid back, and nothing else', () => {
    const forgotten = new Set(['p1']);
    expect(judge({ refunds: [refund] }, undefined, closed, forgotten)).toEqual(nothing);
    expect(judge({}, undefined, closed, forgotten).lost).toHaveLength(1);
    expect(judge({ refunds: [refund] }, 'CAPTURED', {}, forgotten).twice).toHaveLength(1);
  });
});
