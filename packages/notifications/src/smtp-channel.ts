import { createTransport } from 'nodemailer';
import { DeliveryError } from './delivery-error.ts';
import type { RenderedDelivery } from './rendered-delivery.ts';

export interface SmtpChannelConfig {
  /** smtp:// or smtps://, with user and password where the server wants them. */
  readonly smtpUrl: string;
  /** An address, or `Name <address>`. */
  readonly smtpFrom: string;
  /** `off` sends mail, and the password, in the clear. */
  readonly smtpTls: 'required' | 'off';
  readonly timeoutMs: number;
}

/** What nodemailer puts on an error. */
interface SmtpFault extends Error {
  readonly code?: string;
  readonly command?: string;
  readonly responseCode?: number;
}

/**
 * Mail notices, one connection each: a reminder is worth a handshake, and a connection that hangs holds up its own
 * mail alone. One time box covers connection, TLS, login and mail. The Message-ID is made of order and stage, so
 * a mail that is sent again is the same mail.
 * @returns a function that resolves when the server took the mail. It rejects with DeliveryError: permanent when
 * the server refuses this recipient or this mail (5xx to RCPT or DATA), not when it refuses us (login, sender).
 */
export function openSmtpChannel(
  config: SmtpChannelConfig,
  addressOf: (userId: string) => Promise<string>,
): (delivery: RenderedDelivery) => Promise<void> {
  const transport = createTransport(transportOptions(config));
  const sender = /<([^<>]+)>$/.exec(config.smtpFrom)?.[1] ?? config.smtpFrom;
  return async ({ notice, rendered }) => {
    const address = await addressOf(notice.userId);
    const signal = AbortSignal.timeout(config.timeoutMs);
    try {
      await transport.sendMail({
        from: config.smtpFrom,
        to: { name: '', address },
        envelope: { from: sender, to: [address] },
        subject: oneLine(rendered.subject),
        text: rendered.text,
        messageId: `<${notice.stage.toLowerCase()}-${notice.orderId}@${sender.split('@')[1]}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
        // A text is a text: nothing in it may make the library read a file or an address.
        disableFileAccess: true,
        disableUrlAccess: true,
        signal,
      });
    } catch (cause) {
      throw faultOf(cause, new URL(config.smtpUrl).host, signal.aborted, config.timeoutMs);
    }
  };
}

function transportOptions({ smtpUrl, smtpTls, timeoutMs }: SmtpChannelConfig) {
  const { protocol, hostname, port, username, password } = new URL(smtpUrl);
  const secure = protocol === 'smtps:';
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || (secure ? 465 : 587)),
    secure,
    requireTLS: smtpTls === 'required',
    ignoreTLS: smtpTls === 'off',
    ...(username !== '' && {
      auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
    }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    logger: false,
  };
}

/** An activity's name is free text; a header is one line. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}

function faultOf(cause: unknown, host: string, timedOut: boolean, timeoutMs: number): DeliveryError {
  if (timedOut) return new DeliveryError(`${host} did not take the mail within ${timeoutMs} ms`, { cause });
  if (!(cause instanceof Error)) return new DeliveryError(`${host} cannot be reached`, { cause });
  const { responseCode: status, command = '' } = cause as SmtpFault;
  if (status === undefined) {
    return new DeliveryError(`${host} did not take the mail: ${oneLine(cause.message)}`, { cause });
  }
  const permanent = status >= 500 && (command === 'RCPT TO' || command === 'DATA');
  return new DeliveryError(`${host} answered ${status} to ${command}`, {
    status,
    ...(permanent && { permanent }),
    cause,
  });
}
