import type { ShopConfig, WebhookConfig } from '@lapse/runtime';
import { openSignedPost } from './signed-post.ts';

/** An event of an order as it is delivered: written once, so each try sends the same bytes. */
export interface ShopEvent {
  /** Its `webhook-id`. */
  readonly eventId: string;
  /** JSON. */
  readonly body: string;
}

export interface ShopChannel {
  /** Deliver one event. Resolves when the shop answered 2xx; rejects with DeliveryError otherwise. */
  send(event: ShopEvent): Promise<void>;
  close(): Promise<void>;
}

/**
 * Where the shop is told of its orders, or undefined when it does not want to be.
 * @throws ConfigError when the address is one that must not be reached.
 */
export async function openShopChannel(
  config: ShopConfig,
  { allowPrivate }: WebhookConfig,
): Promise<ShopChannel | undefined> {
  const { webhookUrl, webhookSecret, timeoutMs } = config;
  if (webhookUrl === undefined || webhookSecret === undefined) return undefined;
  // A shop that is not told of its orders does not pay for an HTTP client at each start.
  const { checkLiteralAddress, openGuardedHttp } = await import('./guarded-http.ts');
  checkLiteralAddress('LAPSE_SHOP_WEBHOOK_URL', webhookUrl, allowPrivate);
  const http = openGuardedHttp({ timeoutMs, allowPrivate });
  const post = openSignedPost({ url: webhookUrl, secret: webhookSecret }, http);
  return { send: ({ eventId, body }) => post(eventId, body, new Date()), close: http.close };
}
