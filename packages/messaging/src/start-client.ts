import { type RocketmqConfig, timeBox } from '@lapse/runtime';
import type { BaseClient } from 'rocketmq-client-nodejs';
import { closeClient } from './close-client.ts';
import { MessagingError } from './messaging-error.ts';
import { queryRoute } from './query-route.ts';
import { assertReconnectUsed } from './reconnect.ts';

/** What to do about topics or groups that are missing; creating again what is there changes nothing. */
const howToCreate =
  'To create them: npm start -- --no-apps, with LAPSE_ROCKETMQ_ENDPOINTS and LAPSE_ROCKETMQ_NAMESRV set if the broker is one of your own.';

/** The broker's answer to a topic that does not exist. */
const topicNotFound = 40402;
/** Its answers to a login that is wrong, and to a user without the right. */
const refusals = [40100, 40300] as const;
/** What grpc-js and OpenSSL say of a proxy whose certificate is not believed, or that speaks no TLS. */
const tlsFault = /certificate|altnames|wrong version number|SSL routines|packet length too long/i;

export interface StartSteps {
  readonly before?: () => Promise<unknown>;
  readonly check?: () => Promise<unknown>;
}

async function nothing(): Promise<void> {}

/**
 * One question to the proxy before a client starts, where TLS is spoken: a certificate that is not believed is in the
 * answer, while a start tries again in silence until its time is up.
 */
export function askFirst(client: BaseClient, topic: string, config: RocketmqConfig): StartSteps {
  return config.tls ? { before: () => queryRoute(client, topic, config.requestTimeoutMs) } : {};
}

/**
 * Start a client within a time box; a client that did not start is closed before this rejects. The box is
 * needed because `startup()` never settles when the consumer group does not exist. `before` and `check` are asked
 * before and after the start, as parts of it.
 * @throws LAPSE_TOPIC_MISSING, LAPSE_ROCKETMQ_DENIED and LAPSE_ROCKETMQ_TLS at once; LAPSE_ROCKETMQ_START when the proxy
 * is away or the box is over.
 */
export async function startClient<C extends BaseClient>(
  client: C,
  what: string,
  timeoutMs: number,
  { before = nothing, check = nothing }: StartSteps = {},
): Promise<C> {
  try {
    const start = before().then(() => client.startup().then(check));
    await timeBox(start, timeoutMs, 'the first answer');
    assertReconnectUsed();
    return client;
  } catch (cause) {
    await closeClient(client);
    throw asStartFault(what, cause);
  }
}

function asStartFault(what: string, cause: unknown): MessagingError {
  if (cause instanceof MessagingError) return cause;
  if (isTopicMissing(cause)) return topicMissing(what, cause);
  if (refusals.some((code) => hasCode(cause, code))) return denied(`to open ${what}`, cause);
  if (tlsFault.test(messageOf(cause))) return untrusted(cause);
  return notStarted(what, cause);
}

/** The broker does not know who we are, or that we may. @param what completes "RocketMQ refused …". */
export function denied(what: string, cause: unknown): MessagingError {
  return new MessagingError(
    'LAPSE_ROCKETMQ_DENIED',
    `RocketMQ refused ${what}: ${messageOf(cause)}. Check LAPSE_ROCKETMQ_ACCESS_KEY, LAPSE_ROCKETMQ_SECRET_KEY and the rights of that user (infra/deploy/ENGINES.md).`,
    { cause },
  );
}

function untrusted(cause: unknown): MessagingError {
  return new MessagingError(
    'LAPSE_ROCKETMQ_TLS',
    `TLS with the proxy of RocketMQ failed: ${messageOf(cause)}. The CA that signed its certificate belongs into LAPSE_ROCKETMQ_TLS_CA_FILE, and LAPSE_ROCKETMQ_ENDPOINTS must name the host as the certificate does.`,
    { cause },
  );
}

function topicMissing(what: string, cause: unknown): MessagingError {
  return new MessagingError('LAPSE_TOPIC_MISSING', `RocketMQ has no topic for ${what}. ${howToCreate}`, {
    cause,
  });
}

function notStarted(what: string, cause: unknown): MessagingError {
  return new MessagingError(
    'LAPSE_ROCKETMQ_START',
    `RocketMQ did not accept ${what}: ${messageOf(cause)}. Check LAPSE_ROCKETMQ_ENDPOINTS, and that topics and consumer groups exist. ${howToCreate}`,
    { cause },
  );
}

/** Whether the broker said that the topic does not exist. */
export function isTopicMissing(error: unknown): boolean {
  return hasCode(error, topicNotFound);
}

/** Whether an error, or one that caused it, carries this status code of the broker. */
function hasCode(error: unknown, code: number): boolean {
  for (let e = error; e instanceof Error; e = e.cause) {
    if ('code' in e && e.code === code) return true;
  }
  return false;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
