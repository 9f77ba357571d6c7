import type { Logger } from '@lapse/runtime';
import { connectRedis } from './connect-redis.ts';
import { describeServers } from './describe-servers.ts';
import { forgetStock } from './forget-stock.ts';
import { gatherReserves } from './gather-reserves.ts';
import { inspectStock } from './inspect-stock.ts';
import { loadStock, readLoadToken } from './load-stock.ts';
import { measureStock } from './measure-stock.ts';
import { peekStock } from './peek-stock.ts';
import { reacquire } from './reacquire.ts';
import { readHold } from './read-hold.ts';
import { forgetReleased, readCounts, scanOld } from './read-holds.ts';
import { readLoad } from './read-load.ts';
import type { ConnectConfig } from './redis-client.ts';
import { setCapacity } from './set-capacity.ts';
import { settleHolds } from './settle.ts';
import type { Stock } from './stock.ts';

/**
 * Open the stock. Resolves without Redis too, after `commandTimeoutMs`: a process starts, reports itself not ready
 * by `ping`, and serves when Redis is there.
 */
export async function openStock(config: ConnectConfig, log: Logger): Promise<Stock> {
  const client = await connectRedis(config, log);
  return measureStock({
    ping: client.ping,
    describeServers: () => describeServers(client),
    reserve: gatherReserves(client),
    release: (activityId, orderIds) => settleHolds(client, 'release', activityId, orderIds),
    confirm: (activityId, orderIds) => settleHolds(client, 'confirm', activityId, orderIds),
    reacquire: (activityId, orders) => reacquire(client, activityId, orders),
    setCapacity: (activityId, version, capacity) => setCapacity(client, activityId, version, capacity),
    forget: (activityId) => forgetStock(client, activityId),
    load: (snapshot, replaces) => loadStock(client, snapshot, replaces),
    readLoadToken: (activityId) => readLoadToken(client, activityId),
    readLoad: (activityId) => readLoad(client, activityId),
    readCounts: (activityId) => readCounts(client, activityId),
    inspect: (activityId) => inspectStock(client, activityId),
    peek: (activityId) => peekStock(client, activityId),
    readHold: (activityId, orderId) => readHold(client, activityId, orderId),
    scanOld: (activityId, ages) => scanOld(client, activityId, ages),
    forgetReleased: (activityId, orderIds, filter) => forgetReleased(client, activityId, orderIds, filter),
    close: client.close,
  });
}
