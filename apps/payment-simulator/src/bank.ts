import { randomBytes } from 'node:crypto';
import type {
  SimulatorAttemptBody,
  SimulatorCapture,
  SimulatorFaults,
  SimulatorRefund,
  SimulatorRefundBody,
} from '@lapse/contracts';
import type { Closable, Logger } from '@lapse/runtime';
import type { Attempt, Books, Refund } from './books.ts';
import { chance } from './chance.ts';
import type { Journal } from './journal.ts';
import { moneyMoved } from './metrics.ts';
import { deliveriesPerDecisionMax, planCapture, planDecline } from './plan-deliveries.ts';
import type { Delivery, JournalRecord, Outcome } from './records.ts';

export interface BankOptions {
  readonly books: Books;
  readonly journal: Journal;
  /** Read at each decision: they change at run time. */
  readonly faults: () => SimulatorFaults;
  /** Takes what is to be sent; undefined when no address is set, and then no event is made. */
  readonly deliver: ((delivery: Delivery) => void) | undefined;
  readonly limits: { readonly attemptsMax: number; readonly eventsMax: number };
  readonly log: Logger;
}

export type Refusal =
  | 'FULL'
  | 'NOT_FOUND'
  | 'KEY_REUSED'
  | 'ATTEMPT_ENDED'
  | 'ATTEMPT_BUSY'
  | 'PAYMENT_NOT_FOUND'
  | 'REFUND_CURRENCY'
  | 'REFUND_TOO_LARGE';

type Answer<T> = { readonly kind: 'done'; readonly value: T } | { readonly kind: Refusal };

export interface Bank extends Closable {
  openAttempt(key: string | null, body: SimulatorAttemptBody): Answer<Attempt>;
  /** The buyer pays, or fails to, now or in a while. */
  pay(ref: string, outcome: Outcome, afterMs: number): Answer<Attempt>;
  cancel(ref: string): Answer<Attempt>;
  refund(key: string | null, body: SimulatorRefundBody): Answer<Refund>;
}

/** What could not be done because too many events wait is tried again after this long. */
const againMs = 200;

/**
 * The provider's decisions. Each is made, written to the journal and applied to the books within one turn of the
 * event loop, so that a capture and a cancel that race have one winner, and no answer is given before its line is
 * written.
 */
export function openBank({ books, journal, faults, deliver, limits, log }: BankOptions): Bank {
  const timers = new Map<string, NodeJS.Timeout>();

  const commit = (record: JournalRecord): void => {
    journal.append(record);
    books.apply(record);
    if ('deliveries' in record) for (const delivery of record.deliveries) deliver?.(delivery);
  };
  const happens = (fault: 'processing' | 'captureAtCancel' | 'wrongAmount' | 'wrongCurrency', id: string) =>
    chance(faults().seed, fault, id) < faults()[fault];
  const isCrowded = () => books.deliveries.size + deliveriesPerDecisionMax > limits.eventsMax;
  const at = (dueAt: number, id: string, task: () => void): void => {
    const timer = setTimeout(
      () => {
        timers.delete(id);
        try {
          task();
        } catch (error) {
          // A journal that cannot be written: nothing was decided, and readiness says so.
          log.error({ err: error, id }, 'a payment or refund that was due could not be carried out');
        }
      },
      Math.max(0, dueAt - Date.now()),
    );
    timers.set(id, timer);
  };

  const capture = (attempt: Attempt): void => {
    const { terms } = attempt;
    const taken = captureOf(attempt, happens);
    const deliveries = deliver ? planCapture(terms, taken, faults()) : [];
    commit({ kind: 'captured', ref: terms.providerRef, capture: taken, deliveries });
    moneyMoved.inc({ move: 'capture' });
  };

  /** Carry out what the buyer did, unless a cancel came first. */
  const carryOut = (attempt: Attempt): void => {
    const { terms, click, state } = attempt;
    const { providerRef: ref, attemptId } = terms;
    if (!click) return;
    if (isCrowded()) {
      at(Date.now() + againMs, ref, () => carryOut(attempt));
      return;
    }
    if (click.outcome === 'decline') {
      commit({ kind: 'declined', ref, deliveries: deliver ? planDecline(terms, faults(), new Date()) : [] });
    } else if (state === 'open' && happens('processing', attemptId)) {
      const dueAt = Date.now() + faults().processingMs;
      commit({ kind: 'processing', ref, dueAt });
      at(dueAt, ref, () => carryOut(attempt));
    } else {
      capture(attempt);
    }
  };

  const finishRefund = ({ terms }: Refund) => commit({ kind: 'refunded', refundRef: terms.refundRef });

  // What was under way when the process ended goes on.
  for (const attempt of books.attempts.values()) {
    if (attempt.click) at(attempt.click.dueAt, attempt.terms.providerRef, () => carryOut(attempt));
  }
  for (const refund of books.refunds.values()) {
    if (refund.state === 'pending') at(refund.dueAt ?? 0, refund.terms.refundRef, () => finishRefund(refund));
  }

  return {
    openAttempt: (key, body) => {
      const earlier = key === null ? undefined : books.attemptsByKey.get(key);
      if (earlier) return sameTerms(earlier.terms, body) ? done(earlier) : { kind: 'KEY_REUSED' };
      if (books.attempts.size >= limits.attemptsMax) return { kind: 'FULL' };
      const providerRef = `pa_${randomBytes(18).toString('base64url')}`;
      const paymentId = `pay_${randomBytes(12).toString('hex')}`;
      commit({ kind: 'attempt', key, terms: { providerRef, paymentId, ...body } });
      return found(books.attempts.get(providerRef));
    },
    pay: (ref, outcome, afterMs) => {
      const attempt = books.attempts.get(ref);
      if (!attempt) return { kind: 'NOT_FOUND' };
      if (attempt.state === 'captured' && outcome === 'succeed') return done(attempt);
      if (attempt.state === 'captured' || attempt.state === 'cancelled') return { kind: 'ATTEMPT_ENDED' };
      if (attempt.click) return { kind: 'ATTEMPT_BUSY' };
      if (isCrowded()) return { kind: 'FULL' };
      const dueAt = Date.now() + afterMs;
      commit({ kind: 'click', ref, outcome, dueAt });
      if (afterMs === 0) carryOut(attempt);
      else at(dueAt, ref, () => carryOut(attempt));
      return done(attempt);
    },
    cancel: (ref) => {
      const attempt = books.attempts.get(ref);
      if (!attempt) return { kind: 'NOT_FOUND' };
      if (attempt.state !== 'open') return done(attempt);
      clearTimeout(timers.get(ref));
      timers.delete(ref);
      if (happens('captureAtCancel', attempt.terms.attemptId) && !isCrowded()) capture(attempt);
      else commit({ kind: 'cancelled', ref });
      return done(attempt);
    },
    refund: (key, body) => {
      const earlier = key === null ? undefined : books.refundsByKey.get(key);
      if (earlier) return sameTerms(earlier.terms, body) ? done(earlier) : { kind: 'KEY_REUSED' };
      const attempt = books.paymentsById.get(body.paymentId);
      if (!attempt?.capture) return { kind: 'PAYMENT_NOT_FOUND' };
      if (attempt.capture.currency !== body.currency) return { kind: 'REFUND_CURRENCY' };
      if (attempt.refundedMinor + body.amountMinor > attempt.capture.amountMinor) {
        return { kind: 'REFUND_TOO_LARGE' };
      }
      if (books.refunds.size >= limits.attemptsMax) return { kind: 'FULL' };
      const terms = refundTerms(key, body, faults());
      const dueAt = terms.state === 'pending' ? Date.now() + faults().processingMs : null;
      commit({ kind: 'refund', refund: terms, dueAt });
      moneyMoved.inc({ move: 'refund' });
      const refund = books.refunds.get(terms.refundRef);
      if (refund && dueAt !== null) at(dueAt, terms.refundRef, () => finishRefund(refund));
      return found(refund);
    },
    close: async () => {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}

function done<T>(value: T): Answer<T> {
  return { kind: 'done', value };
}

function found<T>(value: T | undefined): Answer<T> {
  return value === undefined ? { kind: 'NOT_FOUND' } : done(value);
}

function captureOf(
  { terms }: Attempt,
  happens: (fault: 'wrongAmount' | 'wrongCurrency', id: string) => boolean,
): SimulatorCapture {
  const { attemptId, paymentId, amountMinor, currency } = terms;
  const otherCurrency = currency === 'EUR' ? 'USD' : 'EUR';
  return {
    paymentId,
    amountMinor: happens('wrongAmount', attemptId) ? Math.abs(amountMinor - 1) : amountMinor,
    currency: happens('wrongCurrency', attemptId) ? otherCurrency : currency,
    capturedAt: new Date().toISOString(),
  };
}

function refundTerms(
  key: string | null,
  body: SimulatorRefundBody,
  faults: SimulatorFaults,
): SimulatorRefund {
  const pending = chance(faults.seed, 'refundPending', key ?? body.paymentId) < faults.refundPending;
  return {
    refundRef: `re_${randomBytes(12).toString('hex')}`,
    refundId: key,
    paymentId: body.paymentId,
    amountMinor: body.amountMinor,
    currency: body.currency,
    state: pending ? 'pending' : 'refunded',
    requestedAt: new Date().toISOString(),
  };
}

/** Every field of the request is the same as the first time. */
function sameTerms(earlier: object, body: object): boolean {
  const terms = new Map<string, unknown>(Object.entries(earlier));
  return Object.entries(body).every(([field, value]) => terms.get(field) === value);
}
