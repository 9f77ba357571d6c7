import type { OrderPaymentView } from '@lapse/contracts';
import type { Problem } from '@lapse/operations';
import type { Order, OrderRepository, PaymentAttempt } from '@lapse/order-repository';
import { type PaymentProvider, ProviderRefusedError, ProviderUnavailableError } from '@lapse/payments';
import { crashPoint, type Logger } from '@lapse/runtime';

export interface BeginPaymentPorts {
  readonly orders: Pick<OrderRepository, 'endAttempt' | 'markAttemptOpen' | 'openAttempt'>;
  readonly payments: { readonly provider: Pick<PaymentProvider, 'name' | 'createAttempt'> | null };
  readonly log: Logger;
}

export type BeginPaymentAnswer =
  | { readonly kind: 'begun'; readonly payment: OrderPaymentView }
  | { readonly kind: 'refused'; readonly problem: Problem };

/**
 * A buyer begins to pay. The attempt is in MySQL before the provider hears of it, and its id is the idempotency key
 * there: a repeat, here or by another process, gets the same attempt, and one whose answer is lost is known to the
 * settler, which cancels it at the deadline.
 */
export async function beginPayment(
  ports: BeginPaymentPorts,
  orderId: string,
  userId: string,
): Promise<BeginPaymentAnswer> {
  const { provider } = ports.payments;
  if (!provider) {
    return refused({ code: 'PAYMENT_UNAVAILABLE', detail: 'No payment provider is set up here.' });
  }
  const opened = await ports.orders.openAttempt({ orderId, userId, provider: provider.name });
  switch (opened.kind) {
    case 'not_found':
      return refused({ code: 'ORDER_NOT_FOUND' });
    case 'not_pending':
      return refused({ code: 'ORDER_NOT_PENDING', detail: whyNot(opened.order) });
    case 'settling':
      return refused({ code: 'PAYMENT_IN_PROGRESS', retryAfterSeconds: 1 });
    case 'too_many':
      return refused({ code: 'PAYMENT_REFUSED', detail: 'This order has had too many attempts to pay.' });
    case 'open':
      if (opened.attempt.state === 'OPEN') return begun(opened.attempt, opened.expiresAt);
      return create(ports, provider, opened.attempt, opened.expiresAt);
  }
}

async function create(
  { orders, log }: BeginPaymentPorts,
  provider: Pick<PaymentProvider, 'name' | 'createAttempt'>,
  { id, orderId, amountMinor, currency, provider: began }: PaymentAttempt,
  expiresAt: Date,
): Promise<BeginPaymentAnswer> {
  // Begun by the provider of an earlier configuration, and its answer was lost: this one cannot go on with it.
  if (began !== provider.name) return refused({ code: 'PAYMENT_UNAVAILABLE', retryAfterSeconds: 5 });
  crashPoint('payment.begun');
  try {
    const created = await provider.createAttempt({ attemptId: id, orderId, amountMinor, currency });
    crashPoint('payment.created');
    const attempt = await orders.markAttemptOpen(id, created);
    if (attempt?.state === 'OPEN') return begun(attempt, expiresAt);
    // Settled, or paid, while the provider's answer was on its way.
    return refused({ code: 'ORDER_NOT_PENDING', detail: 'The payment has ended meanwhile: read the order.' });
  } catch (error) {
    if (error instanceof ProviderUnavailableError) {
      log.warn(
        { err: error, orderId, attemptId: id },
        'payment provider away: the buyer is asked to come back',
      );
      return refused({ code: 'PAYMENT_UNAVAILABLE', retryAfterSeconds: 1 });
    }
    if (!(error instanceof ProviderRefusedError)) throw error;
    const ended = await orders.endAttempt(id, 'FAILED', error.message);
    // Another process has opened it meanwhile: the buyer's next request gets that one.
    if (!ended) return refused({ code: 'PAYMENT_UNAVAILABLE', retryAfterSeconds: 1 });
    log.error({ err: error, orderId, attemptId: id }, 'payment provider refuses to begin a payment');
    return refused({ code: 'PAYMENT_REFUSED' });
  }
}

function begun(attempt: PaymentAttempt, expiresAt: Date): BeginPaymentAnswer {
  const { id, orderId, amountMinor, currency, payUrl, clientSecret } = attempt;
  const payment = { attemptId: id, orderId, amountMinor, currency, payUrl, clientSecret };
  return { kind: 'begun', payment: { ...payment, expiresAt: expiresAt.toISOString() } };
}

function refused(problem: Problem): BeginPaymentAnswer {
  return { kind: 'refused', problem };
}

function whyNot({ status }: Order): string {
  switch (status) {
    case 'PAID':
      return 'The order is paid.';
    case 'CANCELLED':
      return 'The order was cancelled.';
    default:
      return 'The deadline has passed.';
  }
}
