import { backOffMs, type Logger } from '@lapse/runtime';
import { Redis } from 'ioredis';

const reconnectMs = { minMs: 100, maxMs: 2_000 };

/**
 * A connection of the limits' own: a count that waits must not stand in the way of a reserve. Nothing is kept for
 * later or sent again: a count that does not get through at once is not worth a memory. Does not wait for Redis.
 */
export function connectRedis(
  { url, commandTimeoutMs }: { readonly url: string; readonly commandTimeoutMs: number },
  log: Logger,
): Redis {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: commandTimeoutMs,
    commandTimeout: commandTimeoutMs,
    socketTimeout: commandTimeoutMs,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    enableAutoPipelining: true,
    disableClientInfo: true,
    retryStrategy: (attempt) => backOffMs(attempt, reconnectMs),
  });
  let away = false;
  redis.on('error', (error) => {
    if (!away) log.warn({ err: error }, 'Redis is away: rate limits count in this process alone');
    away = true;
  });
  redis.on('ready', () => {
    if (away) log.info({}, 'Redis is back: rate limits are shared again');
    away = false;
  });
  // A failed first attempt is reported by the error event, and tried again.
  redis.connect().catch(() => undefined);
  return redis;
}
