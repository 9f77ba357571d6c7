import type { Logger } from '@lapse/runtime';
import { connectCluster } from './connect-cluster.ts';
import { connectServer } from './connect-server.ts';
import type { ConnectConfig, RedisClient } from './redis-client.ts';
import { readClusterUrl } from './stock-url.ts';

/** Connect to what the address names, waiting at most `commandTimeoutMs` for the first answer. */
export async function connectRedis(config: ConnectConfig, log: Logger): Promise<RedisClient> {
  const cluster = readClusterUrl(config.url);
  return cluster === null ? connectServer(config, log) : connectCluster(config, cluster, log);
}
