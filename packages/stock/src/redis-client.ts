import { backOffMs, type Logger } from '@lapse/runtime';
import { Redis } from 'ioredis';
import { namedFailure } from './stock-unavailable.ts';

export interface RedisClient {
  readonly redis: Redis;
  /** Run commands; a failure comes out named after `operation`. @throws {StockUnavailableError} */
  readonly ask: <T>(operation: string, commands: (redis: Redis) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
}

/** Back-off between attempts to connect, with full jitter. Short: a sale stands still meanwhile. */
const reconnectMs = { minMs: 50, maxMs: 1_000 };

/**
 * Connect, waiting at most `commandTimeoutMs` for the first answer; without one it goes on trying while every
 * command fails at once. Nothing is kept for later, and nothing is sent twice behind the caller's back:
 * `enableOfflineQueue` and `autoResendUnfulfilledCommands` are off, and `maxRetriesPerRequest` 0 makes what is in
 * flight fail when the connection drops. A reserve that ioredis sent again by itself would arrive after its
 * caller gave up, and hold stock that nobody knows of; the caller repeats it knowingly instead.
 *
 * `socketTimeout` ends a connection to a server that stands still, so that only the first commands wait for it.
 */
export async function connectRedis(
  { url, commandTimeoutMs }: { readonly url: string; readonly commandTimeoutMs: number },
  log: Logger,
): Promise<RedisClient> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: commandTimeoutMs,
    commandTimeout: commandTimeoutMs,
    socketTimeout: commandTimeoutMs,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // Halves the CPU of Redis under load: commands of one tick travel together.
    enableAutoPipelining: true,
    disableClientInfo: true,
    retryStrategy: (attempt) => backOffMs(attempt, reconnectMs),
    // After a failover the old master answers READONLY: connect anew to find the new one.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
  const outage = reportOutages(redis, log);
  await firstAnswer(redis, commandTimeoutMs);
  return {
    redis,
    ask: async (operation, commands) => {
      try {
        return await commands(redis);
      } catch (error) {
        throw namedFailure(error, operation, outage.fault());
      }
    },
    close: async () => {
      outage.ended();
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

/** One line when Redis goes away and one when it is back, whatever the number of attempts between them. */
function reportOutages(redis: Redis, log: Logger): { fault: () => unknown; ended: () => void } {
  let fault: unknown;
  let awaySince: number | undefined;
  let closing = false;
  const away = (error: unknown): void => {
    if (closing) return;
    fault = error ?? fault;
    if (awaySince !== undefined) return;
    awaySince = performance.now();
    log.warn({ err: error }, 'Redis is away; stock operations fail until it is back');
  };
  redis.on('error', away);
  redis.on('close', () => away(fault ?? new Error('The connection was closed by Redis.')));
  redis.on('ready', () => {
    if (awaySince !== undefined) {
      log.info({ awayMs: Math.round(performance.now() - awaySince) }, 'Redis is back');
    }
    awaySince = undefined;
    fault = undefined;
  });
  return {
    fault: () => fault,
    ended: () => {
      closing = true;
    },
  };
}

/** Let what is in flight be answered, then leave; a Redis that does not answer is left at once. */
async function disconnect(redis: Redis): Promise<void> {
  try {
    if (redis.status === 'ready') await redis.quit();
  } catch {
    // Away or frozen: there is nothing to take leave of.
  } finally {
    redis.disconnect();
  }
}
