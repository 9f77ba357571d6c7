import type { SimulatorCapture, SimulatorFaults } from '@lapse/contracts';
import type { Attempt, Books } from './books.ts';
import { chance } from './chance.ts';
import type { DueTimers } from './due-timers.ts';
import { moneyMoved } from './metrics.ts';
import { deliveriesPerDecisionMax, planCapture, planDecline } from './plan-deliveries.ts';
import type { JournalRecord } from './records.ts';

export interface Till {
  readonly books: Books;
  /** Read at each decision: they change at run time. */
  readonly faults: () => SimulatorFaults;
  /** Write a decision down and apply it, in this turn of the event loop. */
  readonly commit: (record: JournalRecord) => void;
  readonly timers: DueTimers;
  /** Without an address to send them to, no events are made. */
  readonly sendsEvents: boolean;
  readonly limits: { readonly attemptsMax: number; readonly eventsMax: number };
}

/** What could not be done because too many events wait is tried again after this long. */
const againMs = 200;

/** The events of one more decision may find no place. */
export function isCrowded({ books, limits }: Till): boolean {
  return books.deliveries.size + deliveriesPerDecisionMax > limits.eventsMax;
}

export function happens(
  till: Till,
  fault: 'processing' | 'captureAtCancel' | 'wrongAmount' | 'wrongCurrency',
  { terms }: Attempt,
): boolean {
  const faults = till.faults();
  return chance(faults.seed, fault, terms.attemptId) < faults[fault];
}

/** Carry out what the buyer did, unless a cancel came first. */
export function carryOut(till: Till, attempt: Attempt): void {
  const { terms, click, state } = attempt;
  const { providerRef: ref } = terms;
  const { commit, timers, faults, sendsEvents } = till;
  const again = (dueAt: number) => timers.set(ref, dueAt, () => carryOut(till, attempt));
  if (!click) return;
  if (isCrowded(till)) {
    again(Date.now() + againMs);
  } else if (click.outcome === 'decline') {
    commit({
      kind: 'declined',
      ref,
      deliveries: sendsEvents ? planDecline(terms, faults(), new Date()) : [],
    });
  } else if (state === 'open' && happens(till, 'processing', attempt)) {
    const dueAt = Date.now() + faults().processingMs;
    commit({ kind: 'processing', ref, dueAt });
    again(dueAt);
  } else {
    capture(till, attempt);
  }
}

export function capture(till: Till, attempt: Attempt): void {
  const { terms } = attempt;
  const taken = captureOf(till, attempt);
  const deliveries = till.sendsEvents ? planCapture(terms, taken, till.faults()) : [];
  till.commit({ kind: 'captured', ref: terms.providerRef, capture: taken, deliveries });
  moneyMoved.inc({ move: 'capture' });
}

function captureOf(till: Till, attempt: Attempt): SimulatorCapture {
  const { paymentId, amountMinor, currency } = attempt.terms;
  const otherCurrency = currency === 'EUR' ? 'USD' : 'EUR';
  return {
    paymentId,
    amountMinor: happens(till, 'wrongAmount', attempt) ? Math.abs(amountMinor - 1) : amountMinor,
    currency: happens(till, 'wrongCurrency', attempt) ? otherCurrency : currency,
    capturedAt: new Date().toISOString(),
  };
}
