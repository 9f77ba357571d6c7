import { backOffMs, type Logger, type RedisTarget, readRedisAddress } from '@lapse/runtime';
import { Cluster, Redis } from 'ioredis';

const reconnectMs = { minMs: 100, maxMs: 2_000 };

/** In a cluster each key is counted on the node that owns it. */
export interface ConnectConfig extends RedisTarget {
  readonly commandTimeoutMs: number;
}

/**
 * A connection of the limits' own: a count that waits must not stand in the way of a reserve. Nothing is kept for
 * later or sent again: a count that does not get through at once is not worth a memory. Does not wait for Redis.
 */
export function connectRedis(config: ConnectConfig, log: Logger): Redis | Cluster {
  const redis = openClient(config);
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

function openClient(config: ConnectConfig): Redis | Cluster {
  const { commandTimeoutMs } = config;
  const connection = {
    connectTimeout: commandTimeoutMs,
    commandTimeout: commandTimeoutMs,
    socketTimeout: commandTimeoutMs,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    enableAutoPipelining: true,
    disableClientInfo: true,
  };
  const client = { lazyConnect: true, enableOfflineQueue: false };
  const retry = (attempt: number) => backOffMs(attempt, reconnectMs);
  const address = readRedisAddress(config);
  if (address.kind === 'cluster') {
    return new Cluster([...address.nodes], {
      ...client,
      slotsRefreshTimeout: commandTimeoutMs,
      // A slot that has moved is followed once.
      maxRedirections: 1,
      clusterRetryStrategy: retry,
      redisOptions: { ...connection, ...address.login },
    });
  }
  const single = { ...connection, ...client, retryStrategy: retry };
  if (address.kind === 'server') return new Redis(address.url, { ...single, ...address.login });
  return new Redis({
    ...{ ...single, ...address.login },
    sentinelRetryStrategy: retry,
    sentinelCommandTimeout: commandTimeoutMs,
  });
}
