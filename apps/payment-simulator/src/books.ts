import type { SimulatorCapture, SimulatorRefund } from '@lapse/contracts';
import { attemptsKept } from './metrics.ts';
import type { AttemptTerms, Delivery, JournalRecord, Outcome } from './records.ts';

export interface Attempt {
  readonly terms: AttemptTerms;
  state: 'open' | 'processing' | 'captured' | 'cancelled';
  /** What the buyer has done and what is not carried out yet. */
  click: { readonly outcome: Outcome; readonly dueAt: number } | undefined;
  capture: SimulatorCapture | undefined;
  readonly refunds: Refund[];
  /** Of those that did not fail. */
  refundedMinor: number;
}

export interface Refund {
  readonly terms: SimulatorRefund;
  state: SimulatorRefund['state'];
  readonly dueAt: number | null;
}

export type Move =
  | { readonly kind: 'capture'; readonly attempt: Attempt; readonly capture: SimulatorCapture }
  | { readonly kind: 'refund'; readonly refund: Refund };

/** A record that the books cannot take: the journal contradicts itself, or a caller did not look first. */
class BooksError extends Error {
  readonly code = 'LAPSE_SIM_BOOKS';
  override readonly name = 'BooksError';
}

/**
 * All that the simulator knows, as its records make it. `apply` is the only way to change it, live and when the
 * journal is read again, and it is where the rules of money stand: an attempt captures at most once, never after a
 * cancel; a refund is made once per id, and all refunds of a payment that did not fail are at most what it captured.
 */
export class Books {
  readonly attempts = new Map<string, Attempt>();
  readonly attemptsByKey = new Map<string, Attempt>();
  readonly paymentsById = new Map<string, Attempt>();
  readonly refunds = new Map<string, Refund>();
  readonly refundsByKey = new Map<string, Refund>();
  readonly deliveries = new Map<string, Delivery>();
  /** Captures and refunds in the order in which they happened. */
  readonly moves: Move[] = [];

  apply(record: JournalRecord): void {
    switch (record.kind) {
      case 'attempt':
        this.#open(record);
        return;
      case 'click':
        this.#inState(record.ref, 'open').click = { outcome: record.outcome, dueAt: record.dueAt };
        return;
      case 'processing': {
        const attempt = this.#inState(record.ref, 'open');
        attempt.state = 'processing';
        attempt.click = { outcome: 'succeed', dueAt: record.dueAt };
        return;
      }
      case 'captured':
        this.#capture(record);
        return;
      case 'declined':
        this.#inState(record.ref, 'open').click = undefined;
        this.#queue(record.deliveries);
        return;
      case 'cancelled': {
        const attempt = this.#inState(record.ref, 'open');
        attempt.state = 'cancelled';
        attempt.click = undefined;
        return;
      }
      case 'refund':
        this.#refund(record);
        return;
      case 'refunded': {
        const refund = this.refunds.get(record.refundRef);
        if (refund?.state !== 'pending') throw new BooksError(`refund ${record.refundRef} is not pending`);
        refund.state = 'refunded';
        return;
      }
      case 'refund_failed':
        this.#failRefund(record);
        return;
      case 'delivered':
        this.deliveries.delete(record.deliveryId);
    }
  }

  #open({ key, terms }: Extract<JournalRecord, { kind: 'attempt' }>): void {
    if (key !== null && this.attemptsByKey.has(key)) throw new BooksError(`a second attempt of key ${key}`);
    const attempt: Attempt = {
      terms,
      state: 'open',
      click: undefined,
      capture: undefined,
      refunds: [],
      refundedMinor: 0,
    };
    this.attempts.set(terms.providerRef, attempt);
    attemptsKept.set(this.attempts.size);
    if (key !== null) this.attemptsByKey.set(key, attempt);
  }

  #capture({ ref, capture, deliveries }: Extract<JournalRecord, { kind: 'captured' }>): void {
    const attempt = this.#inState(ref, 'open', 'processing');
    attempt.state = 'captured';
    attempt.click = undefined;
    attempt.capture = capture;
    this.paymentsById.set(capture.paymentId, attempt);
    this.moves.push({ kind: 'capture', attempt, capture });
    this.#queue(deliveries);
  }

  #refund({ refund: terms, dueAt }: Extract<JournalRecord, { kind: 'refund' }>): void {
    const { refundRef, refundId, paymentId, amountMinor } = terms;
    const attempt = this.paymentsById.get(paymentId);
    if (attempt?.capture?.currency !== terms.currency) {
      throw new BooksError(`a refund of ${paymentId}, which did not capture ${terms.currency}`);
    }
    if (refundId !== null && this.refundsByKey.has(refundId)) {
      throw new BooksError(`a second refund of id ${refundId}`);
    }
    if (attempt.refundedMinor + amountMinor > attempt.capture.amountMinor) {
      throw new BooksError(`refunds of ${paymentId} above its capture`);
    }
    attempt.refundedMinor += amountMinor;
    const refund: Refund = { terms, state: terms.state, dueAt };
    this.refunds.set(refundRef, refund);
    attempt.refunds.push(refund);
    if (refundId !== null) this.refundsByKey.set(refundId, refund);
    this.moves.push({ kind: 'refund', refund });
  }

  #failRefund({ refundRef, deliveries }: Extract<JournalRecord, { kind: 'refund_failed' }>): void {
    const refund = this.refunds.get(refundRef);
    const attempt = refund && this.paymentsById.get(refund.terms.paymentId);
    if (!refund || !attempt || refund.state === 'failed')
      throw new BooksError(`refund ${refundRef} cannot fail: it is ${refund?.state ?? 'unknown'}`);
    refund.state = 'failed';
    attempt.refundedMinor -= refund.terms.amountMinor;
    this.#queue(deliveries);
  }

  #queue(deliveries: readonly Delivery[]): void {
    for (const delivery of deliveries) this.deliveries.set(delivery.deliveryId, delivery);
  }

  #inState(ref: string, ...states: readonly Attempt['state'][]): Attempt {
    const attempt = this.attempts.get(ref);
    if (attempt && states.includes(attempt.state)) return attempt;
    throw new BooksError(`attempt ${ref} is ${attempt?.state ?? 'unknown'}, not ${states.join(' or ')}`);
  }
}
