import { Webhook } from 'standardwebhooks';
import { DeliveryError } from './delivery-error.ts';
import type { GuardedHttp } from './guarded-http.ts';

export interface SignedPostConfig {
  readonly url: string;
  readonly secret: string;
}

/**
 * Post JSON signed per the Standard Webhooks specification. `id` becomes `webhook-id`: the same over all tries
 * of one thing, so that receivers can drop doubles.
 * @returns a function that resolves when the receiver answered 2xx, and rejects with DeliveryError.
 */
export function openSignedPost(
  { url, secret }: SignedPostConfig,
  http: Pick<GuardedHttp, 'send'>,
): (id: string, body: string, sentAt: Date) => Promise<void> {
  const webhook = new Webhook(secret);
  const { host } = new URL(url);
  return async (id, body, sentAt) => {
    const { status, retryAfterMs } = await http.send({
      method: 'POST',
      url,
      body,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Lapse',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
        'webhook-signature': webhook.sign(id, sentAt, body),
      },
    });
    if (status >= 200 && status < 300) return;
    throw new DeliveryError(`${host} answered ${status}`, {
      status,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  };
}
