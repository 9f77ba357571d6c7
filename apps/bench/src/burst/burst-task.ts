import type { Redis } from 'ioredis';
import type { Pool } from 'mysql2/promise';
import type { PostgresStore } from '../open-postgres-store.ts';
import type { RunStores } from '../open-stores.ts';
import type { Sale } from '../sale.ts';
import type { BurstContender } from './contender.ts';
import type { Lateness } from './read-lateness.ts';

/** Why a run has no figure: empty when nothing is wrong. */
export type Faults = readonly string[];

/** The stores as they are watched from outside. */
export interface WatchedStores {
  readonly mysql: Pool;
  readonly redis: Redis;
  /** Instead of MySQL, where the contender's orders are there. */
  readonly postgres: PostgresStore | undefined;
}

/** What is to happen to all orders of a sale at one moment, and how it is seen and judged from outside. */
export interface BurstTask {
  readonly name: 'close' | 'remind' | 'notify';
  /** The column of an order that says when it is due. */
  readonly dueColumn: 'expires_at' | 'remind_at';
  /** How many orders are done, by each store that has to know of it. Asked often: it costs the stores 0.1 ms. */
  readonly countDone: (stores: WatchedStores, sale: Sale) => Promise<Readonly<Record<string, number>>>;
  /** Resolves once what follows the work, and is part of its cost, is over. */
  readonly settle: (
    stores: WatchedStores,
    sale: Sale,
    contender: BurstContender,
    signal: AbortSignal,
  ) => Promise<void>;
  /** None lost, none twice, none early. */
  readonly judge: (stores: RunStores, sale: Sale, contender: BurstContender) => Promise<Faults>;
  readonly readLateness: (stores: WatchedStores, sale: Sale) => Promise<Lateness>;
}
