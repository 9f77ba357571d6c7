// What infra/simulation runs against modelled stores: this process without its wiring.
export { type ApplyWaitingPaymentsParts, applyWaitingPayments } from './apply-waiting-payments.ts';
export { type CloseLane, openCloseLane } from './open-close-lane.ts';
export { type PayRefundsParts, payRefunds } from './pay-refunds.ts';
export { type SettleAttemptsParts, settleAttempts } from './settle-attempts.ts';
