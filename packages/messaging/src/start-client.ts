import { timeBox } from '@lapse/runtime';
import type { BaseClient } from 'rocketmq-client-nodejs';
import { closeClient } from './close-client.ts';
import { MessagingError } from './messaging-error.ts';
import { assertReconnectUsed } from './reconnect.ts';

/** What to do about topics or groups that are missing; creating again what is there changes nothing. */
const howToCreate =
  'To create them: npm start -- --no-apps, with LAPSE_ROCKETMQ_ENDPOINTS and LAPSE_ROCKETMQ_NAMESRV set if the broker is one of your own.';

/** The broker's answer to a topic that does not exist. */
const topicNotFound = 40402;

/**
 * Start a client within a time box; a client that did not start is closed before this rejects. The box is
 * needed because `startup()` never settles when the consumer group does not exist. `check` is asked after
 * the start, as a part of it.
 * @throws LAPSE_TOPIC_MISSING at once; LAPSE_ROCKETMQ_START when the proxy is away or the box is over.
 */
export async function startClient<C extends BaseClient>(
  client: C,
  what: string,
  timeoutMs: number,
  check: () => Promise<void> = async () => {},
): Promise<C> {
  try {
    await timeBox(client.startup().then(check), timeoutMs, 'the first answer');
    assertReconnectUsed();
    return client;
  } catch (cause) {
    await closeClient(client);
    if (cause instanceof MessagingError) throw cause;
    throw isTopicMissing(cause) ? topicMissing(what, cause) : notStarted(what, cause);
  }
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
