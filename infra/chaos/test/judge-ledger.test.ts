import type { OrderView } from '@lapse/contracts';
import { describe, expect, test } from 'vitest';
import type { BookedOrder, BookedPayment } from '../src/books.ts';
import { type Faults, judgeLedger } from '../src/judge-ledger.ts';
import { createLedger, type Ledger } from '../src/ledger.ts';

const promised = { id: 'o1', expiresAt: '2030-01-01T00:00:08.000Z' } as OrderView;
const deadline = Date.parse(promised.expiresAt);
const order: BookedOrder = {
  id: 'o1',
  activityId: 7,
  user: 'ann',
  quantity: 2,
  amountMinor: 5,
  currency: 'CNY',
  status: 'PAID',
  key: 'k1',
  createdAt: deadline - 8_000,
  expiresAt: deadline,
  closedByTimeoutAt: null,
};
const kept: BookedPayment = { paymentId: 'p1', orderId: 'o1', state: 'CAPTURED' };

/** A buyer who bought and paid, and was told so. */
function honestLedger(): Ledger {
  const ledger = createLedger();
  ledger.purchases.push({
    user: 'ann',
    activityId: 7,
    quantity: 2,
    key: 'k1',
    orders: new Map([['o1', promised]]),
    refused: undefined,
  });
  ledger.payments.push({
    paymentId: 'p1',
    orderId: 'o1',
    amountMinor: 5,
    right: true,
    outcomes: ['paid', 'duplicate'],
  });
  return ledger;
}

function judge(ledger: Ledger, orders: readonly BookedOrder[], payments: readonly BookedPayment[]): Faults {
  return judgeLedger(ledger, { orders: new Map(orders.map((each) => [each.id, each])), payments });
}

const nothing: Faults = { lost: [], twice: [], early: [], stuck: [] };

describe('the ledger of promises', () => {
  test('finds nothing where every promise was kept', () => {
    expect(judge(honestLedger(), [order], [kept])).toEqual(nothing);
  });

  test('an order of a request that nobody answered may exist or not', () => {
    const ledger = createLedger();
    ledger.purchases.push({
      user: 'ann',
      activityId: 7,
      quantity: 2,
      key: 'k1',
      orders: new Map(),
      refused: undefined,
    });
    expect(judge(ledger, [order], [])).toEqual(nothing);
    expect(judge(ledger, [], [])).toEqual(nothing);
  });

  test('an order whose extension nobody answered has the one deadline or the other', () => {
    const ledger = honestLedger();
    ledger.extensions.set('o1', { byMs: 500, answeredExpiresAt: undefined });
    expect(judge(ledger, [order], [kept])).toEqual(nothing);
    expect(judge(ledger, [{ ...order, expiresAt: deadline + 500 }], [kept])).toEqual(nothing);
    expect(judge(ledger, [{ ...order, expiresAt: deadline + 1_000 }], [kept]).lost).toHaveLength(1);
  });

  test.each<[string, keyof Faults, BookedOrder[], BookedPayment[], (ledger: Ledger) => void]>([
    ['an order that was promised and is gone', 'lost', [], [], () => {}],
    ['an order with fewer places', 'lost', [{ ...order, quantity: 1 }], [kept], () => {}],
    ['an order of somebody else', 'lost', [{ ...order, user: 'bob' }], [kept], () => {}],
    ['an order whose deadline moved', 'lost', [{ ...order, expiresAt: deadline + 1 }], [kept], () => {}],
    ['a payment that was accepted and is gone', 'lost', [order], [], () => {}],
    ['money kept without a place', 'lost', [{ ...order, status: 'TIMEOUT_CLOSED' }], [kept], () => {}],
    [
      'a buyer who was told paid, and is paid back',
      'lost',
      [{ ...order, status: 'TIMEOUT_CLOSED' }],
      [{ ...kept, state: 'REFUND_PENDING' }],
      () => {},
    ],
    [
      'a cancelled order that is paid',
      'lost',
      [order],
      [kept],
      (ledger) => void ledger.cancellations.push({ orderId: 'o1', answered: 'CANCELLED' }),
    ],
    ['a second order of the same key', 'twice', [order, { ...order, id: 'o2' }], [kept], () => {}],
    [
      'a second active order of one buyer',
      'twice',
      [order, { ...order, id: 'o2', key: 'k2' }],
      [kept],
      () => {},
    ],
    ['a payment written down twice', 'twice', [order], [kept, kept], () => {}],
    [
      'two orders answered for one key',
      'twice',
      [
        { ...order, status: 'CANCELLED' },
        { ...order, id: 'o2' },
      ],
      [],
      (ledger) => {
        ledger.purchases[0]?.orders.set('o2', { ...promised, id: 'o2' });
        ledger.payments.pop();
      },
    ],
    [
      'an order of a request that was refused',
      'twice',
      [order],
      [kept],
      (ledger) =>
        void ledger.purchases.splice(0, 1, {
          user: 'ann',
          activityId: 7,
          quantity: 2,
          key: 'k1',
          orders: new Map(),
          refused: 'SOLD_OUT',
        }),
    ],
    [
      'a close before the promised deadline',
      'early',
      [{ ...order, status: 'TIMEOUT_CLOSED', closedByTimeoutAt: deadline - 1 }],
      [{ ...kept, state: 'REFUNDED' }],
      (ledger) => void ledger.payments[0]?.outcomes.splice(0, 2, 'refund_pending'),
    ],
    [
      'an order that is still pending',
      'stuck',
      [{ ...order, status: 'PENDING' }],
      [],
      (ledger) => void ledger.payments.pop(),
    ],
    [
      'a payment that was never accepted',
      'stuck',
      [order],
      [kept],
      (ledger) => void ledger.payments[0]?.outcomes.splice(0),
    ],
    [
      'a right payment in quarantine',
      'stuck',
      [{ ...order, status: 'CANCELLED' }],
      [{ ...kept, state: 'QUARANTINED' }],
      (ledger) => void ledger.payments[0]?.outcomes.splice(0, 2, 'quarantined'),
    ],
  ])('counts %s as %s', (_name, place, orders, payments, change) => {
    const ledger = honestLedger();
    change(ledger);
    const faults = judge(ledger, orders, payments);
    expect(faults[place].length).toBeGreaterThan(0);
    expect(Object.entries(faults).filter(([name, list]) => name !== place && list.length > 0)).toEqual([]);
  });
});
