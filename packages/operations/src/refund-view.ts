import type { RefundView } from '@lapse/contracts';
import type { RefundRecord } from '@lapse/order-repository';

/** Money that came and was not kept, as operators see it. */
export function toRefundView({ receivedAt, refundedAt, nextTryAt, ...refund }: RefundRecord): RefundView {
  return {
    ...refund,
    receivedAt: receivedAt.toISOString(),
    refundedAt: refundedAt?.toISOString() ?? null,
    nextTryAt: nextTryAt?.toISOString() ?? null,
  };
}
