/**
 * What keeps the invariants, each of which a negative control switches off: then the same seeds must find a
 * violation, or the simulation proves nothing about it.
 */
export const guardNames = [
  /** A close compares the order's status under its lock; off: it writes what it read a moment ago. */
  'compareAndSet',
  /** Reserve and insert refuse a generation that is not the current one. */
  'generationFence',
  /** Reserve and the sweeper's load refuse another server than the stock was loaded into. */
  'runIdFence',
  /** A load notes in MySQL which server took it. */
  'runIdNoted',
  /** A load is refused when another one came between what it read and its swap. */
  'loadToken',
  /** Redis without a load names that, so that it is told from Redis without a load at another time. */
  'emptinessNamed',
  /** A release gives back only what is held; off: INCRBY and SREM, every time. */
  'holdsState',
  /** A reserve notes its buyer as one who may have had an order. */
  'reserveSeen',
  /** A load notes the buyers of orders that have ended and may be asked for again. */
  'loadSeen',
  /** An orphan's id is inserted as ABORTED before its hold is released. */
  'orphanFence',
  /** The database clock says what is due; off: the wall clock of the process that asks. */
  'databaseClock',
  /** The conditional decrement of `available`. */
  'conditionalDecrement',
  /** The unique key of buyer and idempotency key. */
  'idempotencyKey',
  /** The unique keys of a payment: its event and its capture. */
  'paymentOnce',
  /** A refund has one id for all its tries. */
  'refundId',
  /** A reminder is claimed under the lock, where not claimed before. */
  'reminderClaim',
  /** A claim writes its reminder in its own transaction. */
  'reminderNotice',
  /** The sweep of reminders whose message was lost. */
  'reminderSweep',
  /** A close writes in its own transaction whose buyers are to be told. */
  'closedNotice',
  /** Notices are delivered until somebody has taken them. */
  'noticeDelivery',
  /** A close leaves an order alone while its payment is being settled at the provider. */
  'settleUntil',
  /** The sweep of overdue orders. */
  'sweep',
  /** Outbox rows that nobody sent are sent by the sweeper. */
  'outboxResend',
  /** Effects that nobody applied are applied by the sweeper. */
  'effectReplay',
  /** Stock that Redis lost is loaded again. */
  'stockLoad',
  /** Attempts whose time is up are cancelled at the provider. */
  'attemptsSettled',
  /** Money that no order could take goes back. */
  'refundsPaid',
  /** Payments that came before their order are applied, or go back. */
  'keptPayments',
  /** Holds whose order was never written are found. */
  'orphanSearch',
] as const;
export type GuardName = (typeof guardNames)[number];
export type Guards = Readonly<Record<GuardName, boolean>>;

/** All guards, as in production, but the ones named. */
export function guardsWithout(...off: readonly GuardName[]): Guards {
  const guards = guardNames.map((name) => [name, !off.includes(name)] as const);
  return Object.fromEntries(guards) as unknown as Guards;
}
