import type { RedisTarget } from '@lapse/runtime';
import type { Redis } from 'ioredis';
import type { RunId } from './run-id.ts';
import type { StockScripts } from './scripts.ts';

/** One server, and the connection to it. */
export interface StockNode {
  readonly redis: Redis;
  readonly scripts: StockScripts;
  readonly runId: RunId;
}

/**
 * The way to the server that has an activity's keys: the only one there is, or the owner of their slot in a
 * cluster. The rest of the package cannot tell the two apart.
 */
export interface RedisClient {
  /** Run commands on the keys of one activity; a failure comes out named. @throws {StockUnavailableError} */
  readonly ask: <T>(
    operation: string,
    activityId: number,
    commands: (node: StockNode) => Promise<T>,
  ) => Promise<T>;
  /** The same on every server that owns keys of ours; in a cluster, on each owner of slots. */
  readonly askEach: <T>(operation: string, commands: (node: StockNode) => Promise<T>) => Promise<T[]>;
  /** Resolves when every server answers. */
  readonly ping: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface ConnectConfig extends RedisTarget {
  /** How long one command may take. Behind a Redis that stands still, a command waits at most twice as long. */
  readonly commandTimeoutMs: number;
}
