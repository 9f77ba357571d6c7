import { randomBytes } from 'node:crypto';
import type {
  SimulatorAttemptBody,
  SimulatorFaults,
  SimulatorRefund,
  SimulatorRefundBody,
} from '@lapse/contracts';
import type { Closable, Logger } from '@lapse/runtime';
import type { Attempt, Refund } from './books.ts';
import { chance } from './chance.ts';
import { createDueTimers } from './due-timers.ts';
import type { Journal } from './journal.ts';
import { moneyMoved } from './metrics.ts';
import { planRefundFailure } from './plan-deliveries.ts';
import type { Delivery, JournalRecord, Outcome } from './records.ts';
import { capture, carryOut, happens, isCrowded, type Till } from './take-payments.ts';

export interface BankOptions extends Pick<Till, 'books' | 'faults' | 'limits'> {
  readonly journal: Journal;
  /** Takes what is to be sent; undefined when there is no address, and then no event is made. */
  readonly deliver: ((delivery: Delivery) => void) | undefined;
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
  /** A refund that was taken cannot be carried out after all: the buyer's card is gone. */
  failRefund(refundRef: string): Answer<Refund>;
}

/**
 * The provider's decisions. Each is made, written to the journal and applied to the books within one turn of the
 * event loop, so that a capture and a cancel that race have one winner, and no answer is given before its line is
 * written. What was under way when the last process ended goes on.
 */
export function openBank({ books, journal, faults, deliver, limits, log }: BankOptions): Bank {
  const timers = createDueTimers(log);
  const commit = (record: JournalRecord): void => {
    journal.append(record);
    books.apply(record);
    if ('deliveries' in record) for (const delivery of record.deliveries) deliver?.(delivery);
  };
  const till: Till = { books, faults, commit, timers, sendsEvents: deliver !== undefined, limits };
  for (const attempt of books.attempts.values()) {
    if (attempt.click)
      timers.set(attempt.terms.providerRef, attempt.click.dueAt, () => carryOut(till, attempt));
  }
  for (const refund of books.refunds.values()) finishWhenDue(till, refund);
  return {
    openAttempt: (key, body) => openAttempt(till, key, body),
    pay: (ref, outcome, afterMs) => pay(till, ref, outcome, afterMs),
    cancel: (ref) => cancel(till, ref),
    refund: (key, body) => makeRefund(till, key, body),
    failRefund: (refundRef) => failRefund(till, refundRef),
    close: timers.close,
  };
}

function openAttempt(till: Till, key: string | null, body: SimulatorAttemptBody): Answer<Attempt> {
  const { books, limits, commit } = till;
  const earlier = key === null ? undefined : books.attemptsByKey.get(key);
  if (earlier) return sameTerms(earlier.terms, body) ? done(earlier) : { kind: 'KEY_REUSED' };
  if (books.attempts.size >= limits.attemptsMax) return { kind: 'FULL' };
  const providerRef = `pa_${randomBytes(18).toString('base64url')}`;
  const paymentId = `pay_${randomBytes(12).toString('hex')}`;
  commit({ kind: 'attempt', key, terms: { providerRef, paymentId, ...body } });
  return found(books.attempts.get(providerRef));
}

function pay(till: Till, ref: string, outcome: Outcome, afterMs: number): Answer<Attempt> {
  const attempt = till.books.attempts.get(ref);
  if (!attempt) return { kind: 'NOT_FOUND' };
  if (attempt.state === 'captured' && outcome === 'succeed') return done(attempt);
  if (attempt.state === 'captured' || attempt.state === 'cancelled') return { kind: 'ATTEMPT_ENDED' };
  if (attempt.click) return { kind: 'ATTEMPT_BUSY' };
  if (isCrowded(till)) return { kind: 'FULL' };
  const dueAt = Date.now() + afterMs;
  till.commit({ kind: 'click', ref, outcome, dueAt });
  if (afterMs === 0) carryOut(till, attempt);
  else till.timers.set(ref, dueAt, () => carryOut(till, attempt));
  return done(attempt);
}

/** What is being decided is not cancelled, and what has ended stays as it is: the answer says what it has come to. */
function cancel(till: Till, ref: string): Answer<Attempt> {
  const attempt = till.books.attempts.get(ref);
  if (!attempt) return { kind: 'NOT_FOUND' };
  if (attempt.state !== 'open') return done(attempt);
  if (happens(till, 'captureAtCancel', attempt) && !isCrowded(till)) capture(till, attempt);
  else till.commit({ kind: 'cancelled', ref });
  till.timers.drop(ref);
  return done(attempt);
}

function makeRefund(till: Till, key: string | null, body: SimulatorRefundBody): Answer<Refund> {
  const { books, limits, commit, faults } = till;
  const earlier = key === null ? undefined : books.refundsByKey.get(key);
  if (earlier) return sameTerms(earlier.terms, body) ? done(earlier) : { kind: 'KEY_REUSED' };
  const attempt = books.paymentsById.get(body.paymentId);
  if (!attempt?.capture) return { kind: 'PAYMENT_NOT_FOUND' };
  if (attempt.capture.currency !== body.currency) return { kind: 'REFUND_CURRENCY' };
  if (attempt.refundedMinor + body.amountMinor > attempt.capture.amountMinor)
    return { kind: 'REFUND_TOO_LARGE' };
  if (books.refunds.size >= limits.attemptsMax) return { kind: 'FULL' };
  const terms = refundTerms(key, body, faults());
  const dueAt = terms.state === 'pending' ? Date.now() + faults().processingMs : null;
  commit({ kind: 'refund', refund: terms, dueAt });
  moneyMoved.inc({ move: 'refund' });
  const refund = books.refunds.get(terms.refundRef);
  if (refund) finishWhenDue(till, refund);
  return found(refund);
}

function failRefund(till: Till, refundRef: string): Answer<Refund> {
  const { books, commit, timers, sendsEvents, faults } = till;
  const refund = books.refunds.get(refundRef);
  if (!refund) return { kind: 'NOT_FOUND' };
  if (refund.state === 'failed') return done(refund);
  if (isCrowded(till)) return { kind: 'FULL' };
  const deliveries = sendsEvents ? planRefundFailure(refund.terms, faults(), new Date()) : [];
  commit({ kind: 'refund_failed', refundRef, deliveries });
  timers.drop(refundRef);
  return done(refund);
}

function finishWhenDue({ commit, timers }: Till, { state, dueAt, terms: { refundRef } }: Refund): void {
  if (state !== 'pending' || dueAt === null) return;
  timers.set(refundRef, dueAt, () => commit({ kind: 'refunded', refundRef }));
}

function refundTerms(
  key: string | null,
  body: SimulatorRefundBody,
  faults: SimulatorFaults,
): SimulatorRefund {
  const { paymentId, amountMinor, currency } = body;
  const pending = chance(faults.seed, 'refundPending', key ?? paymentId) < faults.refundPending;
  return {
    refundRef: `re_${randomBytes(12).toString('hex')}`,
    refundId: key,
    paymentId,
    amountMinor,
    currency,
    state: pending ? 'pending' : 'refunded',
    requestedAt: new Date().toISOString(),
  };
}

function done<T>(value: T): Answer<T> {
  return { kind: 'done', value };
}

function found<T>(value: T | undefined): Answer<T> {
  return value === undefined ? { kind: 'NOT_FOUND' } : done(value);
}

/** Every field of the request is the same as the first time. */
function sameTerms(earlier: object, body: object): boolean {
  const terms = new Map<string, unknown>(Object.entries(earlier));
  return Object.entries(body).every(([field, value]) => terms.get(field) === value);
}
