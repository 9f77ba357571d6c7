import {
  isUndecided,
  type PaymentAttempt,
  type Timeline,
  type TimelineTransition,
} from '@lapse/order-repository';
import { durationInWords } from './duration-in-words.ts';
import type { ExplainedOrder, ExplanationWords } from './explanation.ts';

/** The payment under way of an order that is pending: until when the order waits for it, or waited. */
export function explainPayingOrder(
  { timeline, sale, nowMs }: ExplainedOrder,
  words: ExplanationWords,
): string[] {
  const attempt = timeline.attempts.findLast(isUndecided);
  if (!attempt) return [];
  const undecided = `${begunAt(attempt, words)}, and the provider has not decided.`;
  if (!sale)
    return [`${undecided} The order waits for it until its deadline and the grace of its activity, at most.`];
  const { paymentGraceMs } = sale;
  const until = new Date(timeline.order.expiresAt.getTime() + paymentGraceMs);
  const graceEnds = `until ${words.time(until)}, its deadline and the grace of ${durationInWords(paymentGraceMs)}`;
  return until.getTime() > nowMs
    ? [`${undecided} The order waits for it ${graceEnds}, at most.`]
    : [`${undecided} The order waited for it ${graceEnds}. The settler or the sweep closes it.`];
}

/**
 * The payment under way when the order closed. Told by what was undecided then, and not by what is now: money that came
 * since is the reason why somebody asks.
 */
export function explainUndecidedClose(
  { timeline, sale }: ExplainedOrder,
  { at: closedAt, cause }: TimelineTransition,
  words: ExplanationWords,
): string[] {
  const attempt = undecidedAtClose(timeline, closedAt);
  if (!attempt) return [];
  const { expiresAt } = timeline.order;
  const isOver = sale && closedAt.getTime() >= expiresAt.getTime() + sale.paymentGraceMs;
  const when =
    isOver && cause !== 'operator'
      ? `when the grace of ${durationInWords(sale.paymentGraceMs)} ended: so it closed`
      : 'when it closed';
  return [`${begunAt(attempt, words)}, and the provider had not decided ${when}.`];
}

/** The latest attempt that was begun before this moment and had not ended by then. */
function undecidedAtClose(
  { attempts }: Pick<Timeline, 'attempts'>,
  closedAt: Date,
): PaymentAttempt | undefined {
  return attempts.findLast(
    ({ createdAt, endedAt }) => createdAt <= closedAt && (endedAt === null || endedAt > closedAt),
  );
}

/** What becomes of money that an order's open attempts may still bring. */
export function explainMoneyToCome({ timeline, sale }: ExplainedOrder): string[] {
  if (!timeline.attempts.some(isUndecided)) return [];
  const { status } = timeline.order;
  if (status === 'PENDING') return ['The provider has not decided on the payment under way.'];
  const paidBack = 'Money may still come of the payment under way; it is then paid back';
  if (status !== 'TIMEOUT_CLOSED') return [`${paidBack}.`];
  if (sale?.latePaymentPolicy === 'reacquire') {
    return [
      'Money may still come of the payment under way; it then takes free places again, and where none are free it is paid back (policy reacquire of its activity).',
    ];
  }
  return [`${paidBack}${sale ? ' (policy refund of its activity)' : ''}.`];
}

function begunAt({ id, provider, createdAt, tries }: PaymentAttempt, { time }: ExplanationWords): string {
  const asked = tries === 0 ? '' : `, asked about ${tries} times`;
  return `Its buyer began to pay at ${time(createdAt)} (attempt ${id} at ${provider}${asked})`;
}
