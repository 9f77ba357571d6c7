import type { GuardedHttp } from './guarded-http.ts';
import type { Notice } from './notice.ts';
import type { RenderedDelivery } from './rendered-delivery.ts';
import { openSignedPost, type SignedPostConfig } from './signed-post.ts';

/**
 * Post notices to the shop's own service, signed. `webhook-id` is made of order and stage, so it is the same over
 * all retries.
 * @returns a function that resolves when the receiver answered 2xx, and rejects with DeliveryError.
 */
export function openWebhookChannel(
  config: SignedPostConfig,
  http: Pick<GuardedHttp, 'send'>,
): (delivery: RenderedDelivery) => Promise<void> {
  const post = openSignedPost(config, http);
  return async (delivery) => {
    const sentAt = new Date();
    await post(webhookIdOf(delivery.notice), JSON.stringify(bodyOf(delivery, sentAt)), sentAt);
  };
}

/** Order and stage name a notice for ever; a row's number would begin again in a restored database. */
function webhookIdOf({ orderId, stage }: Notice): string {
  return `${stage.toLowerCase()}-${orderId}`;
}

function bodyOf({ notice, payLink, rendered }: RenderedDelivery, sentAt: Date) {
  const reminder = notice.stage === 'REMINDER';
  return {
    // Not `order.…`: those are the shop's events, and both may go to one address.
    type: reminder ? 'notice.reminder' : 'notice.closed',
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
