import type { Logger, NotifyConfig, WebhookConfig } from '@lapse/runtime';
import { openBuyerAddresses } from './buyer-address.ts';
import type { Notice } from './notice.ts';
import { renderNotice } from './render-notice.ts';
import type { RenderedDelivery } from './rendered-delivery.ts';
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
 * Only what the channel needs is loaded.
 * @throws ConfigError when an address is one that must not be reached.
 */
export async function openNotifier(
  config: NotifyConfig,
  { allowPrivate }: WebhookConfig,
  log: Logger,
): Promise<Notifier> {
  const channel = await openChannel(config, allowPrivate, log);
  return {
    send: async (notice) => {
      const payLink = config.payUrl.replaceAll('{orderId}', encodeURIComponent(notice.orderId));
      await channel.deliver({ notice, payLink, rendered: renderNotice({ ...notice, payLink }) });
    },
    // Mail asks the directory first, in a time box of its own.
    sendMsMax: config.timeoutMs * (config.channel === 'smtp' ? 2 : 1),
    close: channel.close,
  };
}

interface Channel {
  deliver(delivery: RenderedDelivery): Promise<void>;
  close(): Promise<void>;
}

async function openChannel(
  config: NotifyConfig,
  allowPrivate: readonly string[],
  log: Logger,
): Promise<Channel> {
  if (config.channel === 'log') {
    return { deliver: async (delivery) => logNotice(log, delivery), close: async () => {} };
  }
  const { checkLiteralAddress, openGuardedHttp } = await import('./guarded-http.ts');
  const http = openGuardedHttp({ timeoutMs: config.timeoutMs, allowPrivate });
  if (config.channel === 'smtp') {
    const { smtpUrl, smtpFrom, directoryUrl } = config;
    if (smtpUrl === undefined || smtpFrom === undefined) {
      throw new Error('the smtp channel needs smtpUrl and smtpFrom');
    }
    if (directoryUrl !== undefined) {
      checkLiteralAddress('LAPSE_SMTP_DIRECTORY_URL', directoryUrl, allowPrivate);
    }
    const { openSmtpChannel } = await import('./smtp-channel.ts');
    const deliver = openSmtpChannel({ ...config, smtpUrl, smtpFrom }, openBuyerAddresses(config, http));
    return { deliver, close: http.close };
  }
  const { webhookUrl: url, webhookSecret: secret } = config;
  if (url === undefined || secret === undefined) {
    throw new Error('the webhook channel needs webhookUrl and webhookSecret');
  }
  checkLiteralAddress('LAPSE_NOTIFY_WEBHOOK_URL', url, allowPrivate);
  return { deliver: openWebhookChannel({ url, secret }, http), close: http.close };
}

function logNotice(log: Logger, { notice, rendered }: RenderedDelivery): void {
  const { id, stage, orderId, activityId, userId } = notice;
  log.info({ notice: { id, stage, orderId, activityId, userId, ...rendered } }, 'notice to a buyer');
}
