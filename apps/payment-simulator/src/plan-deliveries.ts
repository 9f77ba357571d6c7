import { randomUUID } from 'node:crypto';
import type { PaymentWebhookBody, SimulatorCapture, SimulatorFaults } from '@lapse/contracts';
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
  const deliveries = planEvent(captured, faults, 'captured');
  if (happens('twin')) deliveries.push(...planEvent(captured, faults, 'twin'));
  if (happens('staleFailed')) {
    const stale = bodyOf('payment.failed', new Date(at.getTime() - staleMs), terms, terms);
    deliveries.push(...planEvent(stale, faults, 'stale'));
  }
  return deliveries;
}

/** @param number which of the buyer's tries this was: each has an event of its own. */
export function planDecline(terms: AttemptTerms, faults: SimulatorFaults, at: Date): Delivery[] {
  return planEvent(bodyOf('payment.failed', at, terms, terms), faults, `declined ${at.getTime()}`);
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

function planEvent(body: PaymentWebhookBody, faults: SimulatorFaults, part: string): Delivery[] {
  const { attemptId } = body.data;
  const roll = (purpose: string) => chance(faults.seed, purpose, `${attemptId} ${part}`);
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
