import type { Sale } from '../sale.ts';
import type { Program } from '../start-programs.ts';

/**
 * One way to close orders at their deadline. All do the same work for each order, once: the order's status from PENDING
 * by compare-and-set, the place back in MySQL, the place and the buyer back in Redis, all durable as the stores are by
 * default. Nobody reports its own time: the scenario watches both stores from outside.
 */
export interface CloseContender {
  readonly name: string;
  /** What it is and how it is set up, for the report. */
  readonly about: string;
  /** Who says whether a run counts: the invariants' oracle for Lapse, exact counts for the others. */
  readonly judgedBy: 'oracle' | 'counts';
  /** Fewer orders than asked for, where those would take too long. Its rate does not depend on them. */
  readonly ordersMax: number;
  /** What keeps its orders until they are due, beside the two stores. */
  readonly queue: 'rocketmq' | 'rabbitmq' | null;
  /** How long `arm` may take. It is given more when that was not enough. */
  readonly armMs: (orders: number) => number;
  /** Hand the orders to what will wake the worker. In a process of its own. */
  readonly arm?: (sale: Sale, dueAtMs: number) => Promise<void>;
  /** Its worker, in a process of its own: call `ready` once it can work, then close orders until killed. */
  readonly work?: (sale: Sale, ready: () => void) => Promise<void>;
  /** Its worker where that is a program that exists already. */
  readonly programs?: (sale: Sale) => readonly Program[];
}
