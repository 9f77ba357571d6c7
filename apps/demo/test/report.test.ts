import { createTally } from '@lapse/sale-player';
import type { Verdict } from '@lapse/testing';
import { describe, expect, it } from 'vitest';
import { closingLine, saleHolds } from '../src/report.ts';

const verdict: Verdict = {
  ok: true,
  checks: [{ id: 'I1', ok: true, detail: '', orderIds: [] }],
  failed: [],
  lateness: { count: 5, p50: 3, p99: 20, max: 22, early: 0 },
  counts: {
    activities: 2,
    orders: { PENDING: 0, PAID: 3, TIMEOUT_CLOSED: 5, CANCELLED: 1, ABORTED: 0 },
    units: { capacity: 10, available: 7, pending: 0, paid: 3, credited: 6 },
    payments: {},
    notifications: {},
    parked: { orders: 0, messages: 0, deadLetters: 0, notifications: 0 },
  },
  parked: [],
};

describe('the verdict on a sale', () => {
  it('says the figures in one line', () => {
    expect(closingLine(verdict)).toBe(
      'demo: orders=9 paid=3 closed=5 lateness_p99_ms=20 early=0 invariants=1/1',
    );
  });

  it('holds only when nothing is open, early, parked, doubled or answered wrongly', () => {
    expect(saleHolds(verdict, createTally())).toBe(true);
    expect(saleHolds({ ...verdict, ok: false }, createTally())).toBe(false);
    const early = { ...verdict, lateness: { ...verdict.lateness, early: 1 } };
    expect(saleHolds(early, createTally())).toBe(false);
    const open = {
      ...verdict,
      counts: { ...verdict.counts, orders: { ...verdict.counts.orders, PENDING: 1 } },
    };
    expect(saleHolds(open, createTally())).toBe(false);
    const doubled = createTally();
    doubled.created(3, 2, 0);
    expect(saleHolds(verdict, doubled)).toBe(false);
    const surprised = createTally();
    surprised.refused('INTERNAL');
    expect(saleHolds(verdict, surprised)).toBe(false);
  });

  it('holds only once everyone who paid too late has the money back, and nobody else', () => {
    const tally = createTally();
    tally.lastMoment('TIMEOUT_CLOSED', 'an order');
    tally.lastMoment('PAID', 'another');
    const withPayments = (payments: Record<string, number>): Verdict => ({
      ...verdict,
      counts: { ...verdict.counts, payments },
    });
    expect(saleHolds(withPayments({ CAPTURED: 3, REFUNDED: 1 }), tally)).toBe(true);
    expect(saleHolds(withPayments({ CAPTURED: 3, REFUND_PENDING: 1 }), tally)).toBe(false);
    expect(saleHolds(withPayments({ CAPTURED: 3, REFUNDED: 1, REFUND_FAILED: 1 }), tally)).toBe(false);
    expect(saleHolds(withPayments({ CAPTURED: 3, REFUNDED: 2 }), tally)).toBe(false);
    expect(saleHolds(withPayments({ CAPTURED: 3 }), tally)).toBe(false);
  });
});
