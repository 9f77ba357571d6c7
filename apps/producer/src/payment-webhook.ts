import { type PaymentOutcome, type PaymentWebhookBody, webhookToleranceSeconds } from '@lapse/contracts';
import { applyEffects, type EffectPorts } from '@lapse/order-flow';
import type { OrderRepository } from '@lapse/order-repository';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

export interface PaymentPorts extends EffectPorts {
  readonly orders: Pick<OrderRepository, 'recordPayment' | 'markEffectsApplied'>;
}

export interface SignedRequest {
  /** The bytes as they came, as text: parsing and writing them again would change what was signed. */
  readonly rawBody: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** `webhook-id` becomes a key in MySQL; the library takes any text. */
const eventIdForm = /^[\x21-\x7e]{1,128}$/;
/** Digits alone: the library would read "1e9" as 1. */
const timestampForm = /^[0-9]{1,12}$/;

/**
 * Check the signature of a webhook per the Standard Webhooks specification: HMAC-SHA256 over id, timestamp
 * and raw body, compared in constant time, the timestamp no more than five minutes away in either direction.
 * @returns the event's id, or undefined when it must not be trusted, whatever is wrong with it.
 */
export function openSignatureCheck(secret: string): (request: SignedRequest) => string | undefined {
  const webhook = new Webhook(secret);
  return ({ rawBody, headers }) => {
    const id = headers['webhook-id'];
    const timestamp = headers['webhook-timestamp'];
    const signature = headers['webhook-signature'];
    if (typeof id !== 'string' || !eventIdForm.test(id)) return undefined;
    if (typeof timestamp !== 'string' || !timestampForm.test(timestamp)) return undefined;
    // The library's tolerance is five minutes as well; this one is ours, so that it cannot drift.
    if (Math.abs(Date.now() / 1_000 - Number(timestamp)) > webhookToleranceSeconds) return undefined;
    if (typeof signature !== 'string') return undefined;
    try {
      webhook.verify(
        rawBody,
        { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature },
        { jsonParse: false },
      );
      return id;
    } catch (error) {
      if (error instanceof WebhookVerificationError) return undefined;
      throw error;
    }
  };
}

/**
 * Record a verified payment event. The same event, or the same capture under another event id, counts once.
 * MySQL decides between payment and close; the hold in Redis follows at once, or by the sweeper.
 * @returns undefined when there is no such order (yet): the provider must send it again.
 */
export async function takePayment(
  ports: PaymentPorts,
  eventId: string,
  { type, timestamp, data }: PaymentWebhookBody,
): Promise<PaymentOutcome | undefined> {
  const result = await ports.orders.recordPayment({
    ...data,
    type,
    eventId,
    occurredAt: new Date(timestamp),
  });
  if (result.outcome === 'order_not_found') return undefined;
  if (result.effect) await applyEffects(ports, [result.effect]);
  return result.outcome;
}
