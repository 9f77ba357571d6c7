import { randomUUID } from 'node:crypto';
import type {
  PaymentWebhookBody,
  SimulatorCapture,
  SimulatorFaults,
  SimulatorRefund,
} from '@lapse/contracts';
import { chance } from './chance.ts';
import type { AttemptTerms, Delivery } from './records.ts';

/** A stale event says that it happened this long before the capture. */
const staleMs = 5_000;

/** Most deliveries that one decision makes: capture, twin and stale event, each of them twice. */
export const deliveriesPerDecisionMax = 6;

/** What the shop is told of a capture, and how: as the faults have it, once in their absence. */
export function planCapture(
  terms: AttemptTerms,
  capture: SimulatorCapture,
  faults: SimulatorFaults,
): Delivery[] {
  const at = new Date(capture.capturedAt);
  const happens = (fault: 'twin' | 'staleFailed') =>
    chance(faults.seed, fault, terms.attemptId) < faults[fault];
  const captured = bodyOf('payment.captured', at, terms, capture);
  const { attemptId } = terms;
  const deliveries = planEvent(captured, faults, `${attemptId} captured`);
  if (happens('twin')) deliveries.push(...planEvent(captured, faults, `${attemptId} twin`));
  if (happens('staleFailed')) {
    const stale = bodyOf('payment.failed', new Date(at.getTime() - staleMs), terms, terms);
    deliveries.push(...planEvent(stale, faults, `${attemptId} stale`));
  }
  return deliveries;
}

/** @param number which of the buyer's tries this was: each has an event of its own. */
export function planDecline(terms: AttemptTerms, faults: SimulatorFaults, at: Date): Delivery[] {
  const part = `${terms.attemptId} declined ${at.getTime()}`;
  return planEvent(bodyOf('payment.failed', at, terms, terms), faults, part);
}

/** Only of a refund with an id: by that the shop knows it. */
export function planRefundFailure(
  { refundRef, refundId, paymentId }: SimulatorRefund,
  faults: SimulatorFaults,
  at: Date,
): Delivery[] {
  if (refundId === null) return [];
  const data = { paymentId, refundId, refundRef, reason: 'the card is closed' };
  const body = { type: 'payment.refund_failed', timestamp: at.toISOString(), data } as const;
  return planEvent(body, faults, `${refundId} failed`);
}

function bodyOf(
  type: PaymentWebhookBody['type'],
  at: Date,
  { paymentId, orderId, providerRef, attemptId }: AttemptTerms,
  { amountMinor, currency }: Pick<SimulatorCapture, 'amountMinor' | 'currency'>,
): PaymentWebhookBody {
  const data = { paymentId, orderId, amountMinor, currency, providerRef, attemptId };
  return { type, timestamp: at.toISOString(), data };
}

/** @param part names the event among all: its chances hang on that and the seed alone. */
function planEvent(body: Delivery['body'], faults: SimulatorFaults, part: string): Delivery[] {
  const roll = (purpose: string) => chance(faults.seed, purpose, part);
  const eventId = `evt_${randomUUID()}`;
  const now = Date.now();
  const late = roll('delay') < faults.delay ? roll('delay by') * faults.delayMs : 0;
  const held = roll('reorder') < faults.reorder;
  const first: Delivery = {
    deliveryId: randomUUID(),
    eventId,
    body,
    sendAt: now + (held ? 2 * faults.delayMs : late),
    held,
    firstIsLost: roll('drop first') < faults.dropFirst,
  };
  if (roll('duplicate') >= faults.duplicate) return [first];
  const again = { deliveryId: randomUUID(), sendAt: first.sendAt + roll('again after') * faults.delayMs };
  return [first, { ...first, ...again, held: false, firstIsLost: false }];
}
