import { backOffMs, type Logger, type RedisAddress } from '@lapse/runtime';
import { Redis } from 'ioredis';
import { answerText } from './answer-text.ts';
import type { ConnectConfig, RedisClient } from './redis-client.ts';
import { reportOutages } from './report-outages.ts';
import { followRunId } from './run-id.ts';
import { defineScripts, scriptName } from './scripts.ts';
import { namedFailure } from './stock-unavailable.ts';

/** Back-off between attempts to connect, with full jitter. Short: a sale stands still meanwhile. */
export const reconnectMs = { minMs: 50, maxMs: 1_000 };

/**
 * Nothing is sent twice behind the caller's back: `autoResendUnfulfilledCommands` is off, and `maxRetriesPerRequest`
 * 0 makes what is in flight fail when the connection drops. A reserve that ioredis sent again by itself would
 * arrive after its caller gave up, and hold stock that nobody knows of; the caller repeats it knowingly instead.
 *
 * `socketTimeout` ends a connection to a server that stands still, so that only the first commands wait for it.
 */
export function connectionOptions(commandTimeoutMs: number) {
  return {
    connectTimeout: commandTimeoutMs,
    commandTimeout: commandTimeoutMs,
    socketTimeout: commandTimeoutMs,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // Halves the CPU of Redis under load: commands of one tick travel together.
    enableAutoPipelining: true,
    // Gathers its own: it would wait for another turn, and behind what is on its way.
    autoPipeliningIgnoredCommands: [scriptName('reserve')],
    disableClientInfo: true,
  };
}

/**
 * Connect to one server, or to the master that the sentinels name, who are asked anew for each connection. Without an
 * answer in time it goes on trying, while every command fails at once: `enableOfflineQueue` is off, so nothing is kept
 * for later.
 *
 * A master that the others cannot see, while we do, is left when it is made a replica and so closes its connections.
 * Until then nothing is sold there twice: its run id is not the one in MySQL once the new master is loaded. ioredis'
 * own watch on the sentinels was left: it writes to standard error when one of them is away.
 */
export async function connectServer(
  { commandTimeoutMs }: ConnectConfig,
  address: Exclude<RedisAddress, { kind: 'cluster' }>,
  log: Logger,
): Promise<RedisClient> {
  const retry = (attempt: number): number => backOffMs(attempt, reconnectMs);
  const options = {
    ...connectionOptions(commandTimeoutMs),
    lazyConnect: true,
    enableOfflineQueue: false,
    retryStrategy: retry,
    // After a failover the old master answers READONLY: connect anew to find the new one.
    reconnectOnError: (error: Error) => answerText(error).startsWith('READONLY'),
  };
  const redis =
    address.kind === 'server'
      ? new Redis(address.url, { ...options, ...address.login })
      : new Redis({
          ...{ ...options, ...address.login },
          sentinelRetryStrategy: retry,
          sentinelCommandTimeout: commandTimeoutMs,
        });
  const outages = reportOutages(redis, log);
  const node = { redis, scripts: defineScripts(redis), runId: followRunId(redis) };
  await firstAnswer(redis, commandTimeoutMs);
  const ask: RedisClient['ask'] = async (operation, _activityId, commands) => {
    try {
      return await commands(node);
    } catch (error) {
      throw namedFailure(error, operation, outages.fault());
    }
  };
  return {
    ask,
    askEach: async (operation, commands) => [await ask(operation, 0, commands)],
    ping: async () => {
      await ask('answer a ping', 0, () => redis.ping());
    },
    close: async () => {
      outages.ended();
      await disconnect(redis);
    },
  };
}

/** Resolves when the connection is ready, or after `waitMs` without one. */
async function firstAnswer(redis: Redis, waitMs: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, waitMs);
    redis.once('ready', () => {
      clearTimeout(timer);
      resolve();
    });
    // A failed first attempt is reported by the error event, and retried.
    redis.connect().catch(() => undefined);
  });
}

/** Let what is in flight be answered, then leave; a Redis that does not answer is left at once. */
export async function disconnect(redis: Redis): Promise<void> {
  try {
    if (redis.status === 'ready') await redis.quit();
  } catch {
    // Away or frozen: there is nothing to take leave of.
  } finally {
    redis.disconnect();
  }
}
