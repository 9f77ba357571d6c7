import type { OrderRepository } from '@lapse/order-repository';
import type { Logger } from '@lapse/runtime';
import { backlog } from './metrics.ts';

export interface ReportBacklogParts {
  readonly orders: Pick<OrderRepository, 'readPaymentBacklog'>;
  /** Nobody pays refunds without one. */
  readonly provider: { readonly name: string } | null;
  readonly config: {
    /** A refund that waits longer is an alarm. */
    readonly refundAlertMs: number;
  };
  /** Hears how much waits: refunds, attempts that are due, and payments whose order is not there. */
  readonly counted?: (waiting: number) => void;
  readonly log: Logger;
}

/** An alarm that stays is repeated this often, and not with each look. */
const alarmEveryMs = 60_000;
const byHand = 'what nobody here can pay, pay by hand and mark it: POST /v1/ops/refunds/{id}/paid-by-hand';

/** Say in the metrics what waits, and in the log, as an error, that money owed to buyers has waited for too long. */
export function reportBacklog({
  orders,
  provider,
  config,
  counted,
  log,
}: ReportBacklogParts): () => Promise<void> {
  let alarmedAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    const counts = await orders.readPaymentBacklog();
    backlog.refundsWaiting.set(counts.refundsWaiting);
    backlog.oldestRefundSeconds.set(counts.oldestRefundMs / 1_000);
    backlog.attemptsDue.set(counts.attemptsDue);
    backlog.oldestAttemptSeconds.set(counts.oldestAttemptMs / 1_000);
    backlog.paymentsWaiting.set(counts.paymentsWaiting);
    backlog.quarantined.set(counts.quarantined);
    backlog.refundsFailed.set(counts.refundsFailed);
    backlog.readAt.setToCurrentTime();
    counted?.(counts.refundsWaiting + counts.attemptsDue + counts.paymentsWaiting);
    if (counts.oldestRefundMs < config.refundAlertMs) return;
    if (performance.now() - alarmedAtMs < alarmEveryMs) return;
    alarmedAtMs = performance.now();
    log.error(
      { refunds: counts.refundsWaiting, oldestMs: counts.oldestRefundMs, provider: provider?.name ?? 'none' },
      provider
        ? `refunds have waited for too long: GET /v1/ops/refunds says why; ${byHand}`
        : `refunds are owed and no payment provider is set up: ${byHand}`,
    );
  };
}
