import type { TimelinePayment } from '@lapse/order-repository';
import { durationInWords } from './duration-in-words.ts';
import type { Answer, ExplainedOrder, ExplanationWords } from './explanation.ts';

/** What money came, what became of each part of it, and whether any is owed. */
export function explainMoney({ timeline }: ExplainedOrder, words: ExplanationWords): Answer {
  const { order, payments } = timeline;
  const wanted = words.amount(order.amountMinor, order.currency);
  if (payments.length === 0) return { says: [`No payment came (${wanted} was asked). Nothing is owed.`] };
  const told = payments.map((payment) => inWords(payment, order.expiresAt, words));
  return { says: [...told, ...balance(payments, words)], todo: payments.flatMap(todoOf) };
}

/** What is owed, and what nobody knows yet: money in quarantine may be either. */
function balance(payments: readonly TimelinePayment[], { amount }: ExplanationWords): string[] {
  const sumOf = (states: ReadonlySet<TimelinePayment['state']>): string =>
    payments
      .filter(({ state }) => states.has(state))
      .map(({ amountMinor, currency }) => amount(amountMinor, currency))
      .join(' and ');
  const [owed, open] = [sumOf(owedStates), sumOf(openStates)];
  if (owed === '' && open === '') return ['Nothing is owed.'];
  return [
    ...(owed === '' ? [] : [`Owed to the buyer: ${owed}.`]),
    ...(open === '' ? [] : [`Whether ${open} is owed is not decided yet.`]),
  ];
}

const owedStates: ReadonlySet<TimelinePayment['state']> = new Set(['REFUND_PENDING', 'REFUND_FAILED']);
const openStates: ReadonlySet<TimelinePayment['state']> = new Set(['QUARANTINED']);

function inWords(payment: TimelinePayment, deadline: Date, { time, amount }: ExplanationWords): string {
  const { paymentId, amountMinor, currency, occurredAt, reason, refundTries, refundRef } = payment;
  const lateMs = occurredAt.getTime() - deadline.getTime();
  const late = lateMs > 0 ? `, ${durationInWords(lateMs)} after the deadline` : '';
  const money = `Payment ${paymentId} of ${amount(amountMinor, currency)}, made at ${time(occurredAt)}${late},`;
  const because = reason === null ? '' : ` (${reason})`;
  const error = payment.lastError === null ? '' : ` The last answer: ${payment.lastError}`;
  switch (payment.state) {
    case 'CAPTURED':
      return `${money} is kept for this order.`;
    case 'WAITING':
      return `${money} waits: its order was not written yet.`;
    case 'FAILED':
      return `${money} failed at the provider: no money came.`;
    case 'QUARANTINED':
      return `${money} was set aside${because}: amount or currency differs from the order, a part of it is back already, or it contradicts another payment. A person decides.`;
    case 'DISMISSED':
      return `${money} was found to be no money.`;
    case 'REFUND_PENDING':
      return `${money} could not be kept${because}: it goes back, after ${refundTries} tries so far.${error}`;
    case 'REFUND_FAILED':
      return `${money} could not be kept${because}, and its refund FAILED at the provider.${error}`;
    case 'REFUNDED':
      return `${money} could not be kept${because}, and the provider took its refund${refundRef === null ? '' : ` ${refundRef}`} at ${payment.refundedAt ? time(payment.refundedAt) : 'an unknown time'}.`;
  }
}

function todoOf({ id, state }: TimelinePayment): string[] {
  if (state === 'REFUND_FAILED') {
    return [
      `Order the refund anew: lapse refunds retry ${id} --reason TEXT --apply; or pay it by hand: lapse refunds paid ${id} --reason TEXT --apply`,
    ];
  }
  if (state === 'QUARANTINED') {
    return [
      `Look at the provider, then: lapse payments quarantined refund ${id} --reason TEXT --apply, or dismiss ${id}`,
    ];
  }
  return [];
}
