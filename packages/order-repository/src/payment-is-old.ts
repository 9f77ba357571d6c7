/**
 * The payment came so long ago, and so long ago its money went back, or was heard not to: a payment of long ago may be
 * refunded today. The value is the age in microseconds.
 */
export const movedLongAgo = `GREATEST(received_at, COALESCE(refunded_at, received_at),
  COALESCE(refund_failed_at, received_at)) <= NOW(3) - INTERVAL ? MICROSECOND`;
