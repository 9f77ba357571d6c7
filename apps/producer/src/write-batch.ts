import type { OutboxRow } from '@lapse/contracts';
import type { CreateResult, NewOrder, OrderRepository } from '@lapse/order-repository';
import { isStoreUnavailable } from './store-unavailable.ts';

/** `failed`: an error of its own. Nothing of it was committed, unless the error is a CommitUnknownError. */
export type WriteResult = CreateResult | { readonly kind: 'failed'; readonly error: unknown };

/**
 * An order that has waited this long, in milliseconds, is not written: MySQL stands still, the buyer has
 * gone or presses again, and the pay window is running. It also empties the queue behind a frozen MySQL at
 * once, instead of one time-out after the other.
 */
const waitedMsMax = 5_000;

/** Most transactions that one batch may become. One bad order in 256 takes 17 to single out. */
const transactionsMax = 40;

/** The queue moved too slowly; nothing was written. */
export class WaitedTooLongError extends Error {
  readonly code = 'LAPSE_WAITED_TOO_LONG';
  constructor() {
    super(`an order waited longer than ${waitedMsMax} ms to be written`);
    this.name = 'WaitedTooLongError';
  }
}

export interface WritePorts {
  readonly orders: Pick<OrderRepository, 'createOrders' | 'now'>;
  /** Takes the outbox row of each committed transaction; never throws. */
  readonly relay: { add(row: OutboxRow): void };
}

/**
 * Write a batch in one transaction. When MySQL refuses it for a reason that is not its own absence, the
 * halves are written apart, and so on: strangers travel together here, and one bad order must not fail the
 * rest. Results in the order of the input; never rejects.
 */
export async function writeBatch(
  { orders, relay }: WritePorts,
  batch: readonly NewOrder[],
): Promise<WriteResult[]> {
  let transactions = 0;

  const write = async (part: readonly NewOrder[]): Promise<WriteResult[]> => {
    transactions += 1;
    try {
      const { results, outbox } = await orders.createOrders(part);
      if (outbox) relay.add(outbox);
      return [...results];
    } catch (error) {
      if (part.length === 1 || transactions >= transactionsMax || isStoreUnavailable(error)) {
        return part.map(() => ({ kind: 'failed', error }));
      }
      const middle = Math.ceil(part.length / 2);
      return [...(await write(part.slice(0, middle))), ...(await write(part.slice(middle)))];
    }
  };
  const writtenSince = orders.now() - waitedMsMax;
  const inTime = batch.filter(({ createdAt }) => createdAt.getTime() >= writtenSince);
  const results = inTime.length === 0 ? [] : await write(inTime);
  if (inTime.length === batch.length) return results;
  const byOrder = new Map(inTime.map((order, index) => [order, results[index]]));
  return batch.map((order) => byOrder.get(order) ?? { kind: 'failed', error: new WaitedTooLongError() });
}
