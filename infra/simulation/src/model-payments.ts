import type { PaymentEvent, PaymentResult, PaymentState } from '@lapse/order-repository';
import type { AtOnce, Ledger } from './model-ledger.ts';
import { type AttemptRow, isActive, isOpen, type OrderRow, type PaymentRow, toOrder } from './model-rows.ts';

type Operations = AtOnce<
  | 'claimDueAttempts'
  | 'claimRefunds'
  | 'claimWaitingPayments'
  | 'endAttempt'
  | 'failRefund'
  | 'finishRefund'
  | 'giveUpWaitingPayments'
  | 'markAttemptOpen'
  | 'openAttempt'
  | 'recordPayment'
  | 'recordRefundFailure'
  | 'retryAttempt'
>;

const attemptsPerOrderMax = 50;

/** What a capture means for the order as it is. */
interface Verdict {
  readonly kind: 'pay' | 'late' | 'refund' | 'returned' | 'quarantine' | 'ignore';
  readonly state: PaymentState;
}

/** Money: attempts, captures, refunds, and payments that are kept for their order. */
export function payment(ledger: Ledger): Operations {
  const { guards, tables, now } = ledger;
  const { orders, payments, attempts } = tables;

  function recordPayment(event: PaymentEvent): PaymentResult {
    const order = orders.get(event.orderId);
    const earlier = findKnown(event);
    if (!order) return keepForLater(event, earlier);
    const known = guards.paymentOnce ? earlier : [];
    // A late payment that is taken needs the activity's row.
    const verdict = judge(order, event);
    if (verdict.kind === 'late') ledger.requireUnlocked([order.activityId]);
    const same = known.find((row) => saysTheSame(row, event));
    captureAttempt(event);
    if (known.length > 0 && !same) return { outcome: contradict(event), order: toOrder(order) };
    const row = same ? decideWaiting(same, verdict, event) : insert(event, verdict.state);
    if (!row) return { outcome: 'duplicate', order: toOrder(order) };
    switch (verdict.kind) {
      case 'ignore':
        return { outcome: 'ignored', order: toOrder(order) };
      case 'quarantine':
        return { outcome: 'quarantined', order: toOrder(order) };
      case 'refund':
        settleOpenAttempts(order.id);
        return { outcome: 'refund_pending', order: toOrder(order) };
      case 'returned':
        return { outcome: 'refunded', order: toOrder(order) };
      case 'pay': {
        order.paidAt = new Date(now());
        order.settleUntil = null;
        ledger.move(order, 'PAID', 'payment', {});
        settleOpenAttempts(order.id);
        return { outcome: 'paid', order: toOrder(order), effect: ledger.addSettleEffect('confirm', [order]) };
      }
      case 'late':
        settleOpenAttempts(order.id);
        return takeLate(order, row);
    }
  }

  function takeLate(order: OrderRow, row: PaymentRow): PaymentResult {
    const { id, activityId, userId, quantity } = order;
    const activity = ledger.activityOf(activityId);
    const isHolding = [...orders.values()].some(
      (other) => other.activityId === activityId && other.userId === userId && isActive(other),
    );
    const isOver = activity.saleEndsAt !== null && activity.saleEndsAt.getTime() <= now();
    const wanted = activity.latePaymentPolicy === 'reacquire' && !isOver;
    if (!wanted || isHolding || activity.available < quantity) {
      return { outcome: 'refund_pending', order: toOrder(order) };
    }
    activity.available -= quantity;
    order.paidAt = new Date(now());
    order.closedAt = null;
    order.settleUntil = null;
    ledger.move(order, 'PAID', 'payment', { debit: quantity });
    Object.assign(row, { state: 'CAPTURED', refundId: null, nextTryAtMs: null });
    const effect = ledger.addEffect({
      ...{ id: ledger.newId('effect'), kind: 'reacquire', activityId, orderIds: [id] },
      orders: [{ orderId: id, userId, quantity }],
    });
    return { outcome: 'reacquired', order: toOrder(order), effect };
  }

  /** Rows with the event's id, or of its payment. */
  function findKnown({ eventId, paymentId, type }: PaymentEvent): PaymentRow[] {
    return payments.filter(
      ({ event, isContradiction }) =>
        (event.eventId === eventId && !isContradiction) ||
        (event.paymentId === paymentId && event.type === type),
    );
  }

  /** A capture that says other than what came before it under its event's id or of its payment. */
  function contradict(event: PaymentEvent): 'duplicate' | 'quarantined' {
    if (event.type === 'payment.failed') return 'duplicate';
    insert(event, 'QUARANTINED').isContradiction = true;
    return 'quarantined';
  }

  function keepForLater(event: PaymentEvent, known: readonly PaymentRow[]): PaymentResult {
    const same = known.find((row) => saysTheSame(row, event));
    const returned = judgeReturned(event);
    if (same && !(returned && decideWaiting(same, returned, event)))
      return { outcome: same.state === 'WAITING' ? 'kept' : 'duplicate' };
    if (!same && known.length > 0) return { outcome: contradict(event) };
    if (returned) {
      if (!same) insert(event, returned.state);
      return { outcome: returned.kind === 'returned' ? 'refunded' : 'quarantined' };
    }
    const isFailed = event.type === 'payment.failed';
    insert(event, isFailed ? 'FAILED' : 'WAITING');
    return { outcome: isFailed ? 'ignored' : 'kept' };
  }

  function insert(event: PaymentEvent, state: PaymentState): PaymentRow {
    const row: PaymentRow = {
      ...{ id: payments.length + 1, event, isContradiction: false, receivedAtMs: now() },
      ...{ refundTries: 0, claimedUntilMs: null },
      ...decisionOf(state, event),
    };
    payments.push(row);
    return row;
  }

  /** @returns undefined when it was decided before. */
  function decideWaiting(row: PaymentRow, { state }: Verdict, event: PaymentEvent): PaymentRow | undefined {
    return row.state === 'WAITING' ? Object.assign(row, decisionOf(state, event)) : undefined;
  }

  function decisionOf(
    state: PaymentState,
    { returned }: PaymentEvent,
  ): Pick<PaymentRow, 'state' | 'refundId' | 'nextTryAtMs'> {
    const isDue = state === 'WAITING' || state === 'REFUND_PENDING';
    const isNamed = state === 'REFUND_PENDING' || state === 'REFUNDED';
    const known = state === 'REFUNDED' ? returned?.refundId : undefined;
    const refundId = isNamed ? (known ?? ledger.newId('refund')) : null;
    return { state, refundId, nextTryAtMs: isDue ? now() : null };
  }

  function openOf(orderId: string): AttemptRow[] {
    return [...attempts.values()].filter((attempt) => attempt.orderId === orderId && isOpen(attempt));
  }

  function captureAttempt(event: PaymentEvent): void {
    if (event.type !== 'payment.captured' || !event.provider || !event.providerRef) return;
    for (const attempt of attempts.values()) {
      const { provider, providerRef, orderId, state } = attempt;
      if (provider !== event.provider || providerRef !== event.providerRef) continue;
      if (orderId === event.orderId && state !== 'CAPTURED') end(attempt, 'CAPTURED');
    }
  }

  function end(attempt: AttemptRow, state: 'CAPTURED' | 'CANCELLED' | 'FAILED'): void {
    Object.assign(attempt, { state, endedAt: new Date(now()), claimedUntilMs: null });
    const order = orders.get(attempt.orderId);
    if (order && openOf(attempt.orderId).length === 0) order.settleUntil = null;
  }

  function settleOpenAttempts(orderId: string): void {
    for (const attempt of openOf(orderId)) {
      attempt.settleAt = new Date(Math.min(attempt.settleAt.getTime(), now()));
    }
  }

  function isFree({ claimedUntilMs }: { readonly claimedUntilMs: number | null }): boolean {
    return claimedUntilMs === null || claimedUntilMs <= now();
  }

  return {
    recordPayment,
    openAttempt: ({ orderId, userId, provider }) => {
      const order = orders.get(orderId);
      if (order?.userId !== userId) return { kind: 'not_found' };
      if (order.status !== 'PENDING' || order.expiresAt.getTime() <= now()) {
        return { kind: 'not_pending', order: toOrder(order) };
      }
      const { expiresAt } = order;
      const [open] = openOf(orderId);
      if (open && open.settleAt.getTime() <= now()) return { kind: 'settling' };
      if (open) return { kind: 'open', attempt: toAttempt(open), expiresAt };
      const all = [...attempts.values()].filter((attempt) => attempt.orderId === orderId);
      if (all.length >= attemptsPerOrderMax) return { kind: 'too_many' };
      const row: AttemptRow = {
        ...{ id: ledger.newId('attempt'), orderId, provider, providerRef: null, state: 'CREATING' },
        ...{ amountMinor: order.amountMinor, currency: order.currency, payUrl: null, clientSecret: null },
        ...{ createdAt: new Date(now()), settleAt: expiresAt, endedAt: null, tries: 0, lastError: null },
        claimedUntilMs: null,
      };
      attempts.set(row.id, row);
      const { paymentGraceMs } = ledger.activityOf(order.activityId);
      order.settleUntil = new Date(expiresAt.getTime() + paymentGraceMs);
      return { kind: 'open', attempt: toAttempt(row), expiresAt };
    },
    markAttemptOpen: (id, created) => {
      const attempt = attempts.get(id);
      if (attempt?.state === 'CREATING') Object.assign(attempt, created, { state: 'OPEN' });
      return attempt && toAttempt(attempt);
    },
    endAttempt: (id, state, error = null) => {
      const attempt = attempts.get(id);
      if (!attempt || !(state === 'FAILED' ? attempt.state === 'CREATING' : isOpen(attempt))) return false;
      attempt.lastError = error;
      end(attempt, state);
      return true;
    },
    retryAttempt: (id, { inMs, error }) => {
      const attempt = attempts.get(id);
      if (attempt) Object.assign(attempt, { claimedUntilMs: now() + Math.ceil(inMs), lastError: error });
    },
    claimDueAttempts: ({ provider, limit, leaseMs }) => {
      const due = [...attempts.values()]
        .filter((attempt) => isOpen(attempt) && attempt.provider === provider && isFree(attempt))
        .filter(({ settleAt }) => settleAt.getTime() <= now())
        .sort(inTurn)
        .slice(0, limit);
      for (const attempt of due) {
        attempt.claimedUntilMs = now() + leaseMs;
        attempt.tries += 1;
      }
      return due.map(toAttempt);
    },
    claimRefunds: ({ provider, limit, leaseMs }) => {
      const due = payments
        .filter((row) => row.state === 'REFUND_PENDING' && isFree(row))
        .filter(({ event }) => !event.provider || event.provider === provider)
        .filter(({ nextTryAtMs }) => nextTryAtMs === null || nextTryAtMs <= now())
        .slice(0, limit);
      return due.map((row) => {
        row.claimedUntilMs = now() + leaseMs;
        row.refundTries += 1;
        if (!guards.refundId) row.refundId = ledger.newId('refund');
        const { orderId, paymentId, amountMinor, currency } = row.event;
        return {
          ...{ id: row.id, refundId: row.refundId ?? '', orderId, paymentId, amountMinor, currency },
          tries: row.refundTries,
        };
      });
    },
    finishRefund: (id, { refundId }) => {
      const row = payments[id - 1];
      if (row?.refundId !== refundId) return 'superseded';
      if (row.state !== 'REFUND_PENDING') return 'known';
      Object.assign(row, { state: 'REFUNDED', claimedUntilMs: null, nextTryAtMs: null });
      return 'finished';
    },
    recordRefundFailure: ({ paymentId, refundId }) => {
      const row = payments.find(({ event }) => event.paymentId === paymentId);
      if (row?.refundId !== refundId) return 'ignored';
      if (row.state === 'REFUND_FAILED') return 'duplicate';
      Object.assign(row, { state: 'REFUND_FAILED', claimedUntilMs: null, nextTryAtMs: null });
      return 'refund_failed';
    },
    failRefund: ({ id, refundId, tries }, { inMs }) => {
      const row = payments[id - 1];
      const isOurs = row?.refundId === refundId && row.refundTries === tries;
      if (row?.state !== 'REFUND_PENDING' || !isOurs) return;
      Object.assign(row, { nextTryAtMs: now() + Math.ceil(inMs), claimedUntilMs: null });
    },
    claimWaitingPayments: ({ limit, retryMs }) => {
      const due = payments
        .filter(({ state, nextTryAtMs }) => state === 'WAITING' && (nextTryAtMs ?? 0) <= now())
        .slice(0, limit);
      return due.map((row) => {
        row.nextTryAtMs = now() + retryMs;
        const { providerRef: _forgotten, ...event } = row.event;
        return {
          id: row.id,
          event: { ...event, provider: event.provider ?? null },
          waitedMs: now() - row.receivedAtMs,
        };
      });
    },
    giveUpWaitingPayments: ({ olderThanMs, limit }) => {
      const old = payments
        .filter(({ state, receivedAtMs }) => state === 'WAITING' && receivedAtMs <= now() - olderThanMs)
        .slice(0, limit)
        .filter(({ event }) => !orders.has(event.orderId));
      for (const row of old) Object.assign(row, decisionOf('REFUND_PENDING', row.event));
      return old.map(({ event }) => event.orderId);
    },
  };
}

function saysTheSame({ event: earlier }: PaymentRow, event: PaymentEvent): boolean {
  return (['type', 'paymentId', 'orderId', 'amountMinor', 'currency'] as const).every(
    (field) => earlier[field] === event[field],
  );
}

/** What was never asked about first, earliest first; then the rest, latest first. */
function inTurn(a: AttemptRow, b: AttemptRow): number {
  const [left, right] = [Math.min(a.tries, 1), Math.min(b.tries, 1)];
  const earlierMs = a.settleAt.getTime() - b.settleAt.getTime();
  return left - right || b.state.localeCompare(a.state) || (left === 0 ? earlierMs : -earlierMs);
}

function toAttempt({ claimedUntilMs: _own, ...attempt }: AttemptRow) {
  return attempt;
}

function judge(order: OrderRow, event: PaymentEvent): Verdict {
  if (event.type === 'payment.failed') return { kind: 'ignore', state: 'FAILED' };
  const returned = judgeReturned(event);
  if (returned) return returned;
  if (order.status === 'ABORTED') return { kind: 'refund', state: 'REFUND_PENDING' };
  if (event.amountMinor !== order.amountMinor || event.currency !== order.currency) {
    return { kind: 'quarantine', state: 'QUARANTINED' };
  }
  if (order.status === 'PENDING') return { kind: 'pay', state: 'CAPTURED' };
  return { kind: order.status === 'TIMEOUT_CLOSED' ? 'late' : 'refund', state: 'REFUND_PENDING' };
}

/** Money that is with its buyer again, all of it or a part. */
function judgeReturned({ type, amountMinor, returned }: PaymentEvent): Verdict | undefined {
  if (!returned || type === 'payment.failed') return undefined;
  return returned.amountMinor >= amountMinor
    ? { kind: 'returned', state: 'REFUNDED' }
    : { kind: 'quarantine', state: 'QUARANTINED' };
}
