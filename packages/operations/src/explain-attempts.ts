import type { PaymentAttempt, Timeline } from '@lapse/order-repository';
import { durationInWords } from './duration-in-words.ts';
import type { ExplainedOrder, ExplanationWords } from './explanation.ts';

const undecidedStates: ReadonlySet<PaymentAttempt['state']> = new Set(['CREATING', 'OPEN']);

/** Attempts of which the provider has said neither that money came nor that none will. */
function undecidedAttempts({ attempts }: Pick<Timeline, 'attempts'>): readonly PaymentAttempt[] {
  return attempts.filter(({ state }) => undecidedStates.has(state));
}

/** The payment under way of an order that is pending: until when the order waits for it. */
export function explainPayingOrder({ timeline, sale }: ExplainedOrder, words: ExplanationWords): string[] {
  const attempt = undecidedAttempts(timeline).at(-1);
  if (!attempt) return [];
  const { expiresAt } = timeline.order;
  const until = sale
    ? `until ${words.time(new Date(expiresAt.getTime() + sale.paymentGraceMs))}, its deadline and the grace of ${durationInWords(sale.paymentGraceMs)}`
    : 'until its deadline and the grace of its activity';
  return [
    `${begunAt(attempt, words)}, and the provider has not decided. The order waits for it ${until}, at most.`,
  ];
}

/**
 * The payment under way when the order closed. Told by what was undecided then, and not by what is now: money that came
 * since is the reason why somebody asks.
 */
export function explainUndecidedClose(
  { timeline, sale }: ExplainedOrder,
  closedAt: Date,
  words: ExplanationWords,
): string[] {
  const attempt = undecidedAtClose(timeline, closedAt);
  if (!attempt) return [];
  const { expiresAt } = timeline.order;
  const hadGrace = sale && closedAt.getTime() >= expiresAt.getTime() + sale.paymentGraceMs;
  const when = hadGrace
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
  if (undecidedAttempts(timeline).length === 0) return [];
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
