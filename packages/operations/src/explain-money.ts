import type { Timeline, TimelinePayment } from '@lapse/order-repository';
import { durationInWords } from './duration-in-words.ts';
import { explainMoneyToCome } from './explain-attempts.ts';
import type { Answer, ExplainedOrder, ExplanationWords } from './explanation.ts';

/** What money came, what became of each part of it, and whether any is owed. */
export function explainMoney(explained: ExplainedOrder, words: ExplanationWords): Answer {
  const { timeline } = explained;
  const { order, payments } = timeline;
  const wanted = words.amount(order.amountMinor, order.currency);
  const toCome = explainMoneyToCome(explained);
  if (payments.length === 0) {
    const none = toCome.length === 0 ? 'No payment came' : 'No payment has come yet';
    return { says: [`${none} (${wanted} was asked). Nothing is owed.`, ...toCome] };
  }
  const told = payments.map((payment) => inWords(payment, timeline, words));
  return { says: [...told, ...balance(payments, words), ...toCome], todo: payments.flatMap(todoOf) };
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

function inWords(payment: TimelinePayment, timeline: Timeline, { time, amount }: ExplanationWords): string {
  const { paymentId, amountMinor, currency, occurredAt, reason, refundTries, refundRef } = payment;
  const money = `Payment ${paymentId} of ${amount(amountMinor, currency)}, made at ${time(occurredAt)}${whenInWords(payment, timeline)},`;
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

/**
 * By the deadline, as the provider has it, and by the close, as we heard of it: money that was made in time and heard
 * of after the close is late all the same.
 */
function whenInWords({ occurredAt, receivedAt }: TimelinePayment, { order, transitions }: Timeline): string {
  const lateMs = occurredAt.getTime() - order.expiresAt.getTime();
  if (lateMs > 0) return `, ${durationInWords(lateMs)} after the deadline`;
  const closedAt = transitions.find(({ toStatus }) => toStatus === 'TIMEOUT_CLOSED')?.at;
  if (closedAt === undefined || receivedAt <= closedAt) return '';
  const heardMs = receivedAt.getTime() - closedAt.getTime();
  return `, ${durationInWords(-lateMs)} before the deadline, but heard of ${durationInWords(heardMs)} after the close`;
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
