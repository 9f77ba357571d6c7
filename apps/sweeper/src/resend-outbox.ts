import { sendOutboxRows, type TimeoutSender } from '@lapse/messaging';
import type { OrderRepository } from '@lapse/order-repository';
import type { Logger } from '@lapse/runtime';
import { outboxResent } from './metrics.ts';

export interface ResendOutboxParts {
  readonly orders: Pick<OrderRepository, 'claimOutbox' | 'markOutboxSent' | 'markOutboxFailed'>;
  /** Gives a sender, or rejects while there is none: a broker may be away when this process starts. */
  readonly takeSender: () => Promise<Pick<TimeoutSender, 'send' | 'isConnected'>>;
  readonly config: {
    /** Younger rows belong to the relay of the process that wrote them. */
    readonly outboxAfterMs: number;
    readonly closeLeadMs: number;
    readonly dueWindowMs: number;
  };
  readonly log: Logger;
}

/** Rows claimed at once; one of them is up to a batch of orders. */
const rowsPerBatchMax = 100;
/** How long claimed rows are kept from other sweepers; past it they are sent again, which is harmless. */
const leaseMs = 15_000;

/**
 * Send the timeout messages that their process did not: it was killed, or the broker was away. A row may
 * be sent twice and never not at all. Goes on until nothing is left; the first failure ends the run, so
 * that a broker that is away is asked once per run and not once per row.
 * @returns how many rows were sent.
 */
export function resendOutbox({ orders, takeSender, config, log }: ResendOutboxParts) {
  return async (signal: AbortSignal): Promise<number> => {
    // Before the claim: without a broker no row is claimed, and all are free the moment it is back.
    const sender = await takeSender();
    if (!sender.isConnected()) throw new Error('RocketMQ is away: timeout messages wait in the outbox');
    let total = 0;
    for (;;) {
      const rows = await orders.claimOutbox({
        olderThanMs: config.outboxAfterMs,
        limit: rowsPerBatchMax,
        leaseMs,
      });
      if (rows.length === 0) break;
      const { sent, failed } = await sendOutboxRows(sender, rows, config);
      if (sent.length > 0) await orders.markOutboxSent(sent);
      for (const [error, ids] of groupByError(failed)) await orders.markOutboxFailed(ids, error);
      total += sent.length;
      outboxResent.inc({ outcome: 'sent' }, sent.length);
      outboxResent.inc({ outcome: 'failed' }, failed.length);
      if (failed.length > 0) {
        throw new Error(`timeout messages could not be sent: ${failed[0]?.error}`);
      }
      if (rows.length < rowsPerBatchMax || signal.aborted) break;
    }
    if (total > 0) log.info({ rows: total }, 'sent timeout messages that their process had left');
    return total;
  };
}

function groupByError(failed: readonly { id: string; error: string }[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { id, error } of failed) {
    const ids = groups.get(error);
    if (ids) ids.push(id);
    else groups.set(error, [id]);
  }
  return groups;
}
