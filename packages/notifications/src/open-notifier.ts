import type { Logger, NotifyConfig, WebhookConfig } from '@lapse/runtime';
import { openBuyerAddresses } from './buyer-address.ts';
import { checkLiteralAddress, type GuardedHttp, openGuardedHttp } from './guarded-http.ts';
import type { Notice } from './notice.ts';
import { renderNotice } from './render-notice.ts';
import type { RenderedDelivery } from './rendered-delivery.ts';
import { openSmtpChannel } from './smtp-channel.ts';
import { openWebhookChannel } from './webhook-channel.ts';

export interface Notifier {
  /**
   * Deliver one notice. Resolves when the channel took it; rejects with DeliveryError otherwise. It keeps
   * nothing and retries nothing: the caller's notification row does. Any number may be sent at once.
   */
  send(notice: Notice): Promise<void>;
  /** Longest time of one send, in milliseconds. */
  readonly sendMsMax: number;
  close(): Promise<void>;
}

/**
 * The configured channel: `log` writes one line per notice, `webhook` posts to a service of yours, `smtp` mails.
 * @throws ConfigError when an address is one that must not be reached.
 */
export function openNotifier(config: NotifyConfig, { allowPrivate }: WebhookConfig, log: Logger): Notifier {
  const http = openGuardedHttp({ timeoutMs: config.timeoutMs, allowPrivate });
  const deliver = openChannel(config, allowPrivate, http, log);
  return {
    send: async (notice) => {
      const payLink = config.payUrl.replaceAll('{orderId}', encodeURIComponent(notice.orderId));
      await deliver({ notice, payLink, rendered: renderNotice({ ...notice, payLink }) });
    },
    // Mail asks the directory first, in a time box of its own.
    sendMsMax: config.timeoutMs * (config.channel === 'smtp' ? 2 : 1),
    close: http.close,
  };
}

function openChannel(
  config: NotifyConfig,
  allowPrivate: readonly string[],
  http: GuardedHttp,
  log: Logger,
): (delivery: RenderedDelivery) => Promise<void> {
  if (config.channel === 'log') return async (delivery) => logNotice(log, delivery);
  if (config.channel === 'smtp') {
    const { smtpUrl, smtpFrom, directoryUrl } = config;
    if (smtpUrl === undefined || smtpFrom === undefined) {
      throw new Error('the smtp channel needs smtpUrl and smtpFrom');
    }
    if (directoryUrl !== undefined) {
      checkLiteralAddress('LAPSE_SMTP_DIRECTORY_URL', directoryUrl, allowPrivate);
    }
    return openSmtpChannel({ ...config, smtpUrl, smtpFrom }, openBuyerAddresses(config, http));
  }
  const { webhookUrl: url, webhookSecret: secret } = config;
  if (url === undefined || secret === undefined) {
    throw new Error('the webhook channel needs webhookUrl and webhookSecret');
  }
  checkLiteralAddress('LAPSE_NOTIFY_WEBHOOK_URL', url, allowPrivate);
  return openWebhookChannel({ url, secret }, http);
}

function logNotice(log: Logger, { notice, rendered }: RenderedDelivery): void {
  const { id, stage, orderId, activityId, userId } = notice;
  log.info({ notice: { id, stage, orderId, activityId, userId, ...rendered } }, 'notice to a buyer');
}
