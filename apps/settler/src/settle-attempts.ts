import { applyEffects, type EffectPorts } from '@lapse/order-flow';
import type { OrderRepository, PaymentAttempt } from '@lapse/order-repository';
import {
  type AttemptStatus,
  type PaymentProvider,
  ProviderRefusedError,
  ProviderUnavailableError,
} from '@lapse/payments';
import { backOffMs, type Logger } from '@lapse/runtime';
import { attemptsSettled } from './metrics.ts';
import type { CloseLane } from './open-close-lane.ts';
import { runLanes } from './provider-lanes.ts';

export interface SettleAttemptsParts {
  readonly orders: Pick<
    OrderRepository,
    | 'claimDueAttempts'
    | 'endAttempt'
    | 'markAttemptOpen'
    | 'markEffectsApplied'
    | 'now'
    | 'recordPayment'
    | 'retryAttempt'
  >;
  readonly provider: Pick<PaymentProvider, 'cancelAttempt' | 'createAttempt' | 'name'>;
  readonly stock: EffectPorts['stock'];
  readonly closeOrder: CloseLane['closeOrder'];
  readonly config: {
    readonly atOnceMax: number;
    /** Longest time of one call to the provider. */
    readonly timeoutMs: number;
  };
  readonly log: Logger;
}

type Outcome =
  | 'captured'
  | 'refunded'
  | 'quarantined'
  | 'cancelled'
  | 'processing'
  | 'begun'
  | 'failed'
  | 'unavailable'
  | 'refused';
/** No money is to come any more that would pay the order. */
const decided: ReadonlySet<Outcome> = new Set(['cancelled', 'failed', 'quarantined', 'refunded']);
type Captured = Extract<AttemptStatus, { kind: 'captured' }>;

/** Attempts of one lane in one claim: few, so that a lease is short. */
const attemptsPerLaneMax = 4;
/** Creating anew, and cancelling. */
const callsPerAttemptMax = 2;
const leaseMarginMs = 10_000;

/**
 * While an order waits for the answer, so long as a grace may be. Afterwards nobody waits: a bank debit may be decided
 * in days, and asking about many of them often would use up what the provider answers in a second.
 */
const soon = { minMs: 250, maxMs: 5_000 };
const soonForMs = 600_000;
const seldom = { minMs: 60_000, maxMs: 300_000 };

/**
 * Settle payment attempts whose time is up: cancel each at its provider, so that no money comes any more, and do
 * what the provider then says. Captured: the payment is recorded, and pays the order or goes back; money that has gone
 * back pays nothing and is not owed again, so an order that a restored backup has pending once more closes. Cancelled:
 * the order may close. An attempt whose creation got no answer is created again first, by the same id and so the same
 * attempt: only then can it be cancelled. While the provider does not answer, the attempt is tried again, and its
 * order closes when its grace is over.
 *
 * Safe beside any number of settlers, webhooks and closers: the provider's calls are idempotent by the attempt, and
 * what is written is decided under the order's lock.
 */
export function settleAttempts(parts: SettleAttemptsParts): (signal: AbortSignal) => Promise<void> {
  const { orders, provider, config } = parts;
  const limit = config.atOnceMax * attemptsPerLaneMax;
  const leaseMs = attemptsPerLaneMax * callsPerAttemptMax * config.timeoutMs + leaseMarginMs;
  return async (signal) => {
    for (;;) {
      const jobs = await orders.claimDueAttempts({ provider: provider.name, limit, leaseMs });
      if (jobs.length === 0) return;
      const answers = await runLanes({
        jobs,
        atOnceMax: config.atOnceMax,
        signal,
        work: (attempt) => settle(parts, attempt),
        handBack: async (attempt) => {
          await putOff(parts, attempt, signal.aborted ? 0 : undefined, 'not tried: see the others');
          // Its grace may be over all the same.
          if (!signal.aborted) parts.closeOrder(attempt.orderId, false);
        },
      });
      if (signal.aborted || !answers || jobs.length < limit) return;
    }
  };
}

async function settle(parts: SettleAttemptsParts, attempt: PaymentAttempt): Promise<boolean> {
  const { closeOrder, log } = parts;
  let outcome: Outcome;
  try {
    outcome = await settleOnce(parts, attempt);
    if (outcome === 'processing') await putOff(parts, attempt, undefined, 'the provider does not know yet');
  } catch (error) {
    if (!isProviderError(error)) throw error;
    outcome = error instanceof ProviderRefusedError ? 'refused' : 'unavailable';
    const { id: attemptId, orderId, tries } = attempt;
    const level = outcome === 'refused' ? 'error' : 'warn';
    log[level]({ err: error, attemptId, orderId, tries }, 'payment attempt not settled; trying again');
    await putOff(parts, attempt, outcome === 'refused' ? seldom.maxMs : undefined, error.message);
  }
  attemptsSettled.inc({ outcome });
  // Whatever came of it: the order closes if it may, also when only its grace is over.
  if (outcome !== 'captured') closeOrder(attempt.orderId, decided.has(outcome));
  return outcome !== 'unavailable';
}

async function settleOnce(parts: SettleAttemptsParts, attempt: PaymentAttempt): Promise<Outcome> {
  const { orders, provider } = parts;
  const known = attempt.providerRef ?? (await createAgain(parts, attempt));
  if (typeof known !== 'string') return known.outcome;
  const providerRef = known;
  const status = await provider.cancelAttempt(providerRef);
  switch (status.kind) {
    case 'cancelled':
      await orders.endAttempt(attempt.id, 'CANCELLED');
      return 'cancelled';
    case 'captured':
      return takeCapture(parts, { ...attempt, providerRef }, status);
    case 'processing':
      return 'processing';
  }
}

/** @returns what the provider calls it; `failed` when it never began it and never will, `begun` when another process did. */
async function createAgain(
  { orders, provider, log }: SettleAttemptsParts,
  attempt: PaymentAttempt,
): Promise<string | { readonly outcome: Outcome }> {
  const { id, orderId, amountMinor, currency } = attempt;
  try {
    const created = await provider.createAttempt({ attemptId: id, orderId, amountMinor, currency });
    // Known before it is cancelled, so that its events find the attempt.
    await orders.markAttemptOpen(id, created);
    return created.providerRef;
  } catch (error) {
    if (!(error instanceof ProviderRefusedError)) throw error;
    log.warn(
      { err: error, attemptId: id, orderId },
      'payment attempt was never begun: the provider refuses it',
    );
    const { message } = error;
    if (await orders.endAttempt(id, 'FAILED', message)) return { outcome: 'failed' };
    // It is looked at again soon, by what the provider calls it.
    await orders.retryAttempt(id, { inMs: soon.minMs, error: message });
    return { outcome: 'begun' };
  }
}

async function takeCapture(
  parts: SettleAttemptsParts,
  attempt: PaymentAttempt,
  { capture: { paymentId, amountMinor, currency, capturedAt }, returned }: Captured,
): Promise<Outcome> {
  const { orders, provider, log } = parts;
  const { effect, outcome } = await orders.recordPayment({
    // The provider's own event may come too, or have come: the payment's id tells that they are one.
    eventId: `settled-${attempt.id}`,
    type: 'payment.captured',
    provider: provider.name,
    providerRef: attempt.providerRef,
    orderId: attempt.orderId,
    paymentId,
    amountMinor,
    currency,
    occurredAt: capturedAt,
    returned,
  });
  if (effect) await applyEffects(parts, [effect]);
  const fields = { orderId: attempt.orderId, paymentId, outcome, ...(returned && { returned }) };
  log.info(fields, 'payment found when its attempt was settled');
  return outcome === 'refunded' || outcome === 'quarantined' ? outcome : 'captured';
}

async function putOff(
  { orders }: SettleAttemptsParts,
  { id, tries, settleAt }: PaymentAttempt,
  afterMs: number | undefined,
  error: string,
): Promise<void> {
  const isSoon = orders.now() - settleAt.getTime() < soonForMs;
  await orders.retryAttempt(id, { inMs: afterMs ?? backOffMs(tries, isSoon ? soon : seldom), error });
}

/** A store that is away ends the run and is tried again by it; the provider's faults are each attempt's own. */
function isProviderError(error: unknown): error is Error {
  return error instanceof ProviderUnavailableError || error instanceof ProviderRefusedError;
}
