import { measureLateness } from '@lapse/order-flow';
import { Counter, Gauge } from '@lapse/runtime';

export const closeLateness = measureLateness();

export const attemptsSettled = new Counter({
  name: 'lapse_settler_attempts_total',
  help: 'Payment attempts looked at when their time was up, by what came of it.',
  labelNames: ['outcome'] as const,
});

export const refundsTried = new Counter({
  name: 'lapse_settler_refunds_total',
  help: 'Refunds sent to the provider, by what came of it.',
  labelNames: ['outcome'] as const,
});

export const paymentsApplied = new Counter({
  name: 'lapse_settler_kept_payments_total',
  help: 'Payments that came before their order, by what became of them.',
  labelNames: ['outcome'] as const,
});

/** Each is of MySQL as a whole, so that any one settler tells it that has read it lately. */
export const backlog = {
  refundsWaiting: new Gauge({
    name: 'lapse_settler_refunds_waiting',
    help: 'Refunds that are owed and that the provider has not accepted.',
  }),
  oldestRefundSeconds: new Gauge({
    name: 'lapse_settler_oldest_refund_seconds',
    help: 'Age of the payment that has waited longest for its refund.',
  }),
  attemptsDue: new Gauge({
    name: 'lapse_settler_attempts_due',
    help: 'Open payment attempts whose time is up and that are not settled.',
  }),
  oldestAttemptSeconds: new Gauge({
    name: 'lapse_settler_oldest_attempt_seconds',
    help: 'How long the time of the oldest of them has been up.',
  }),
  paymentsWaiting: new Gauge({
    name: 'lapse_settler_payments_waiting',
    help: 'Payments kept because their order is not there.',
  }),
  quarantined: new Gauge({
    name: 'lapse_settler_payments_quarantined',
    help: 'Payments of another amount or currency than their order: a person must look.',
  }),
  readAt: new Gauge({
    name: 'lapse_settler_read_timestamp_seconds',
    help: 'When these were last read, in seconds since 1970: older ones are of the past.',
  }),
  refundsFailed: new Gauge({
    name: 'lapse_settler_refunds_failed',
    help: 'Refunds that the provider had taken and could not carry out: a person must order them anew.',
  }),
};
