import { backOffMs, type Logger, type RedisAddress } from '@lapse/runtime';
import { Cluster, type Redis } from 'ioredis';
import { connectionOptions, disconnect, reconnectMs } from './connect-server.ts';
import { hashSlot } from './hash-slot.ts';
import type { ConnectConfig, RedisClient, StockNode } from './redis-client.ts';
import { reportOutages } from './report-outages.ts';
import { followRunId } from './run-id.ts';
import { defineScripts } from './scripts.ts';
import { namedFailure } from './stock-unavailable.ts';

/** How often the map of slots is read anew, besides after each failure. */
const slotsEveryMs = 2_000;

/**
 * Connect to a cluster. Commands go straight to the node that owns the activity's slot: ioredis' own way through
 * a cluster follows MOVED and repeats commands after a failover, so that a reserve could reach a server whose run id
 * nobody has looked at. Here a slot that has moved is an outage of a moment: the map is read again, and the
 * caller repeats. All keys of an activity share a hash tag, so no command can cross slots.
 *
 * A node's connection is made by its first command and never made again: ioredis drops it from the pool, and the
 * next reading of the map brings a new one.
 */
export async function connectCluster(
  { commandTimeoutMs }: ConnectConfig,
  { nodes, login }: Extract<RedisAddress, { kind: 'cluster' }>,
  log: Logger,
): Promise<RedisClient> {
  const cluster = new Cluster([...nodes], {
    lazyConnect: true,
    enableOfflineQueue: false,
    slotsRefreshInterval: slotsEveryMs,
    slotsRefreshTimeout: commandTimeoutMs,
    clusterRetryStrategy: (attempt) => backOffMs(attempt, reconnectMs),
    redisOptions: { ...connectionOptions(commandTimeoutMs), ...login },
  });
  const outages = reportOutages(cluster, log);
  const known = openNodes(cluster);
  await firstAnswer(cluster, commandTimeoutMs);
  const run = async <T>(operation: string, commands: () => Promise<T>): Promise<T> => {
    try {
      return await commands();
    } catch (error) {
      cluster.refreshSlotsCache();
      throw namedFailure(error, operation, outages.fault());
    }
  };
  const askEach: RedisClient['askEach'] = (operation, commands) =>
    run(operation, async () => {
      const owners = new Set(cluster.slots.map(([owner]) => owner));
      if (owners.size === 0) throw new Error('No node of the cluster answers.');
      return Promise.all([...owners].map((owner) => commands(known.owner(owner))));
    });
  return {
    ask: (operation, activityId, commands) => run(operation, async () => commands(known.of(activityId))),
    askEach,
    ping: async () => {
      await askEach('answer a ping', ({ redis }) => redis.ping());
    },
    close: async () => {
      outages.ended();
      await Promise.all(cluster.nodes('all').map(disconnect));
      cluster.disconnect();
    },
  };
}

interface Nodes {
  /** The node that owns an activity's slot. */
  readonly of: (activityId: number) => StockNode;
  readonly owner: (owner: string | undefined) => StockNode;
}

/** Scripts and run id are attached once to each connection. */
function openNodes(cluster: Cluster): Nodes {
  const opened = new WeakMap<Redis, StockNode>();
  const owner: Nodes['owner'] = (name) => {
    const redis = findNode(cluster, name);
    const known = opened.get(redis);
    if (known !== undefined) return known;
    const node = { redis, scripts: defineScripts(redis), runId: followRunId(redis) };
    opened.set(redis, node);
    return node;
  };
  return { of: (activityId) => owner(cluster.slots[hashSlot(activityId)]?.[0]), owner };
}

function findNode(cluster: Cluster, owner: string | undefined): Redis {
  const redis = cluster
    .nodes('master')
    .find(({ options }) => owner !== undefined && `${options.host}:${options.port}` === owner);
  if (redis === undefined) throw new Error('No node of the cluster answers for this slot.');
  return redis;
}

/** Resolves when the slots are known, or after `waitMs` without an answer. */
async function firstAnswer(cluster: Cluster, waitMs: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, waitMs);
    cluster.once('ready', () => {
      clearTimeout(timer);
      resolve();
    });
    cluster.connect().catch(() => undefined);
  });
}
