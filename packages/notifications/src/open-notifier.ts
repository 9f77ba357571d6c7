import type { Logger, NotifyConfig } from '@lapse/runtime';
import type { Notice } from './notice.ts';
import { renderNotice } from './render-notice.ts';
import { openWebhookChannel, type RenderedDelivery } from './webhook-channel.ts';

export interface Notifier {
  /**
   * Deliver one notice. Resolves when the channel took it; rejects with DeliveryError otherwise. It keeps
   * nothing and retries nothing: the caller's notification row does. Any number may be sent at once.
   */
  send(notice: Notice): Promise<void>;
}

/** The configured channel: `log` writes one line per notice, `webhook` posts to a service of yours. */
export function openNotifier(config: NotifyConfig, log: Logger): Notifier {
  const deliver = openChannel(config, log);
  return {
    send: async (notice) => {
      const payLink = config.payUrl.replaceAll('{orderId}', encodeURIComponent(notice.orderId));
      await deliver({ notice, payLink, rendered: renderNotice({ ...notice, payLink }) });
    },
  };
}

function openChannel(config: NotifyConfig, log: Logger): (delivery: RenderedDelivery) => Promise<void> {
  if (config.channel === 'log') return async (delivery) => logNotice(log, delivery);
  const { webhookUrl, webhookSecret, timeoutMs } = config;
  if (webhookUrl === undefined || webhookSecret === undefined) {
    throw new Error('the webhook channel needs webhookUrl and webhookSecret');
  }
  return openWebhookChannel({ webhookUrl, webhookSecret, timeoutMs });
}

function logNotice(log: Logger, { notice, rendered }: RenderedDelivery): void {
  const { id, stage, orderId, activityId, userId } = notice;
  log.info({ notice: { id, stage, orderId, activityId, userId, ...rendered } }, 'notice to a buyer');
}
