import { Webhook } from 'standardwebhooks';
import { DeliveryError } from './delivery-error.ts';
import type { Notice } from './notice.ts';
import type { RenderedNotice } from './render-notice.ts';
import { parseRetryAfterMs } from './retry-after.ts';

/** An answer's body is read up to here, to use its connection again, and never looked at. */
const answerBytesMax = 16_384;

export interface WebhookChannelConfig {
  readonly webhookUrl: string;
  readonly webhookSecret: string;
  readonly timeoutMs: number;
}

/** A notice ready to go: rendered, with its link. */
export interface RenderedDelivery {
  readonly notice: Notice;
  readonly payLink: string;
  readonly rendered: RenderedNotice;
}

/**
 * Post notices as JSON, signed per the Standard Webhooks specification. `webhook-id` is made of order and
 * stage, so it is the same over all retries and receivers can drop doubles. Redirects are not followed:
 * the signed body goes to the configured address or nowhere.
 * @returns a function that resolves when the receiver answered 2xx, and rejects with DeliveryError.
 */
export function openWebhookChannel(
  config: WebhookChannelConfig,
): (delivery: RenderedDelivery) => Promise<void> {
  const webhook = new Webhook(config.webhookSecret);
  const { host } = new URL(config.webhookUrl);
  return async (delivery) => {
    const sentAt = new Date();
    const body = JSON.stringify(bodyOf(delivery, sentAt));
    const id = webhookIdOf(delivery.notice);
    const response = await post(config, host, body, {
      'content-type': 'application/json',
      'user-agent': 'Lapse',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
      'webhook-signature': webhook.sign(id, sentAt, body),
    });
    if (response.ok) return;
    const retryAfterMs = parseRetryAfterMs(response.headers.get('retry-after'));
    throw new DeliveryError(`${host} answered ${response.status}`, {
      status: response.status,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  };
}

/** Order and stage name a notice for ever; a row's number would begin again in a restored database. */
function webhookIdOf({ orderId, stage }: Notice): string {
  return `${stage.toLowerCase()}-${orderId}`;
}

function bodyOf({ notice, payLink, rendered }: RenderedDelivery, sentAt: Date) {
  const reminder = notice.stage === 'REMINDER';
  return {
    type: reminder ? 'order.reminder' : 'order.closed',
    timestamp: sentAt.toISOString(),
    data: {
      orderId: notice.orderId,
      userId: notice.userId,
      activityId: notice.activityId,
      activityName: notice.activityName,
      locale: notice.locale,
      quantity: notice.quantity,
      amountMinor: notice.amountMinor,
      currency: notice.currency,
      expiresAt: notice.expiresAt.toISOString(),
      ...(reminder && { remainingMs: Math.max(0, Math.floor(notice.remainingMs)), payLink }),
      subject: rendered.subject,
      text: rendered.text,
    },
  };
}

/** One time box covers the connection, the answer and its body. */
async function post(
  { webhookUrl, timeoutMs }: WebhookChannelConfig,
  host: string,
  body: string,
  headers: Record<string, string>,
): Promise<Response> {
  const signal = AbortSignal.timeout(timeoutMs);
  let response: Response;
  try {
    response = await fetch(webhookUrl, { method: 'POST', headers, body, redirect: 'manual', signal });
  } catch (cause) {
    const message = signal.aborted
      ? `${host} did not answer within ${timeoutMs} ms`
      : `${host} cannot be reached`;
    throw new DeliveryError(message, { cause });
  }
  // The status decides. A body that breaks off after a 2xx must not send the notice a second time.
  await discardBody(response).catch(() => {});
  return response;
}

async function discardBody(response: Response): Promise<void> {
  const reader = response.body?.getReader();
  if (!reader) return;
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    bytes += value.byteLength;
    if (bytes > answerBytesMax) return reader.cancel();
  }
}
