/** What the buyers saw, counted from the API's answers alone; the oracle counts from the stores. */
export interface Tally {
  readonly counts: Readonly<Counts>;
  created(clicks: number, distinctOrders: number, deadline: number): void;
  refused(code: string): void;
  /** The status that a paying buyer's order ended with, or why it could not be paid. */
  paid(status: string): void;
  lastMoment(status: string, orderId: string): void;
  cancelled(ok: boolean): void;
}

interface Counts {
  orders: number;
  doubleClicks: number;
  /** Buyers whose clicks with one key made more than one order: must stay 0. */
  doubled: number;
  /** The latest deadline of an order, ms since 1970; 0 without any. */
  lastDeadline: number;
  refused: number;
  refusals: Map<string, number>;
  paid: number;
  /** Buyers who paid and whose order had closed: each must get the money back. */
  lateRefunds: number;
  /** The first of their orders, to be looked at. */
  lateOrders: string[];
  cancelled: number;
  unexpected: string[];
}

/** Unexpected answers kept for the report; more are only counted. */
const unexpectedMax = 10;

/** Orders kept by their id; more are only counted. */
const lateOrdersMax = 5;

/** Count what buyers see. */
export function createTally(): Tally {
  const counts: Counts = {
    orders: 0,
    doubleClicks: 0,
    doubled: 0,
    lastDeadline: 0,
    refused: 0,
    refusals: new Map(),
    paid: 0,
    lateRefunds: 0,
    lateOrders: [],
    cancelled: 0,
    unexpected: [],
  };
  function unexpected(what: string): void {
    if (counts.unexpected.length < unexpectedMax) counts.unexpected.push(what);
  }
  return {
    counts,
    created(clicks, distinctOrders, deadline) {
      counts.orders += 1;
      counts.lastDeadline = Math.max(counts.lastDeadline, deadline);
      if (clicks > 1) counts.doubleClicks += 1;
      if (distinctOrders > 1) counts.doubled += 1;
    },
    refused(code) {
      counts.refused += 1;
      counts.refusals.set(code, (counts.refusals.get(code) ?? 0) + 1);
      if (code !== 'SOLD_OUT') unexpected(`create answered ${code}`);
    },
    paid(status) {
      if (status === 'PAID') counts.paid += 1;
      else unexpected(`a payment in time ended as ${status}`);
    },
    lastMoment(status, orderId) {
      if (status === 'PAID') counts.paid += 1;
      else if (status === 'TIMEOUT_CLOSED') {
        counts.lateRefunds += 1;
        if (counts.lateOrders.length < lateOrdersMax) counts.lateOrders.push(orderId);
      } else unexpected(`a payment at the deadline ended as ${status}`);
    },
    cancelled(ok) {
      if (ok) counts.cancelled += 1;
      else unexpected('a cancel in time was refused');
    },
  };
}
