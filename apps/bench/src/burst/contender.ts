import type { Sale } from '../sale.ts';
import type { Program } from '../start-programs.ts';

/**
 * One way to do what is due at a deadline. All contenders of a task do the same work for each order, once, as durable
 * as the stores are by default. Nobody reports its own time: the task watches the stores from outside.
 */
export interface BurstContender {
  readonly name: string;
  /** What it is and how it is set up, for the report. */
  readonly about: string;
  /** Who says whether a run counts: the invariants' oracle for Lapse, exact counts for the others. */
  readonly judgedBy: 'oracle' | 'counts';
  /** See `Contender`. */
  readonly roundsMax?: number;
  /** Fewer orders than asked for, where those would take too long. Its rate does not depend on them. */
  readonly ordersMax: number;
  /** What keeps its orders until they are due, beside the two stores. */
  readonly queue: 'rocketmq' | 'rabbitmq' | null;
  /** Where orders, activity and jobs are, if not in MySQL. */
  readonly database?: 'postgres';
  /** How long `arm` may take. It is given more when that was not enough. */
  readonly armMs: (orders: number) => number;
  /** Hand the orders to what will wake the worker. In a process of its own. */
  readonly arm?: (sale: Sale, dueAtMs: number) => Promise<void>;
  /** Its worker, in a process of its own: call `ready` once it can work, then work on due orders until killed. */
  readonly work?: (sale: Sale, ready: () => void) => Promise<void>;
  /** Its workers where those are programs that exist already. Each has a name of its own. */
  readonly programs?: (sale: Sale) => readonly Program[];
}
