import { type Logger, readRedisAddress } from '@lapse/runtime';
import { connectCluster } from './connect-cluster.ts';
import { connectServer } from './connect-server.ts';
import type { ConnectConfig, RedisClient } from './redis-client.ts';

/** Connect to what the address names, waiting at most `commandTimeoutMs` for the first answer. */
export async function connectRedis(config: ConnectConfig, log: Logger): Promise<RedisClient> {
  const address = readRedisAddress(config);
  return address.kind === 'cluster'
    ? connectCluster(config, address, log)
    : connectServer(config, address, log);
}
