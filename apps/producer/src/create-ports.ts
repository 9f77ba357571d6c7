import type { OutboxRow } from '@lapse/contracts';
import type { NewOrder, Order, OrderRepository } from '@lapse/order-repository';
import {
  type Batcher,
  type Closable,
  type CreateConfig,
  createBatcher,
  type Logger,
  showQueue,
} from '@lapse/runtime';
import type { Stock } from '@lapse/stock';
import { type ActivityCache, createActivityCache } from './activity-cache.ts';
import { type HoldReleaser, openHoldReleaser } from './hold-releaser.ts';
import { createInFlight, type InFlight } from './in-flight.ts';
import { type WriteResult, writeBatch } from './write-batch.ts';

/** Everything that creating an order needs, shared by all requests of this process. */
export interface CreatePorts {
  readonly activities: ActivityCache;
  readonly orders: Pick<OrderRepository, 'findActiveOrder' | 'now'>;
  readonly stock: Pick<Stock, 'reserve'>;
  readonly holds: HoldReleaser;
  /** Writes orders: whatever waits while one transaction runs goes into the next. */
  readonly inserts: Batcher<NewOrder, WriteResult>;
  /** Finds orders by buyer and key, many in one query. */
  readonly lookups: Batcher<NewOrder, Order | undefined>;
  readonly inFlight: InFlight;
}

export interface CreateDependencies {
  readonly orders: Pick<
    OrderRepository,
    'createOrders' | 'findActiveOrder' | 'findOrdersByKey' | 'now' | 'readActivity'
  >;
  readonly stock: Pick<Stock, 'reserve' | 'release'>;
  /** Takes the outbox row of each committed batch; never throws. */
  readonly relay: { add(row: OutboxRow): void };
  readonly limits: CreateConfig;
  readonly log: Logger;
}

/**
 * Open the queues of creation. `close` first writes what waits, then makes the last releases.
 * One transaction at a time: two gained nothing, because they meet at the activity's row (0.95x).
 */
export function openCreatePorts(dependencies: CreateDependencies): CreatePorts & Closable {
  const { orders, stock, relay, limits, log } = dependencies;
  const inserts = createBatcher<NewOrder, WriteResult>({
    name: 'create',
    batchMax: limits.batchMax,
    queueMax: limits.queueMax,
    run: (batch) => writeBatch({ orders, relay }, batch),
  });
  const lookups = createBatcher<NewOrder, Order | undefined>({
    name: 'find_by_key',
    batchMax: limits.batchMax,
    queueMax: limits.queueMax,
    run: (batch) => orders.findOrdersByKey(batch),
  });
  const holds = openHoldReleaser({ stock, log });
  showQueue('release', holds.waiting);
  return {
    activities: createActivityCache(orders),
    orders,
    stock,
    holds,
    inserts,
    lookups,
    inFlight: createInFlight(),
    close: async () => {
      await Promise.all([inserts.close(), lookups.close()]);
      await holds.close();
    },
  };
}
