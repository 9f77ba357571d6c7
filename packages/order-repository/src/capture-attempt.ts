import { attemptIsOpen } from './attempt-row.ts';
import { idToBytes } from './binary-id.ts';
import { stopSettling } from './end-attempt.ts';
import type { PaymentEvent } from './payment.ts';
import type { Session } from './session.ts';

/**
 * A payment came of this attempt: it is over, whatever was believed of it, and its order waits for it no longer. Under
 * the order's lock. A payment outside any attempt, or one that overtook the provider's first answer, meets none here:
 * the settler then finds the attempt captured.
 */
export async function captureAttempt(session: Session, event: PaymentEvent): Promise<void> {
  if (event.type !== 'payment.captured' || !event.provider || !event.providerRef) return;
  const orderId = idToBytes(event.orderId);
  const { affectedRows } = await session.run(
    // An attempt that had ended, and was captured all the same, ended when it did.
    `UPDATE payment_attempt
     SET state = 'CAPTURED', ended_at = COALESCE(ended_at, NOW(3)), claimed_until = NULL, last_error = NULL
     WHERE provider = ? AND provider_ref = ? AND order_id = ? AND state <> 'CAPTURED'`,
    [event.provider, Buffer.from(event.providerRef), orderId],
  );
  if (affectedRows > 0) await stopSettling(session, orderId);
}

/** Nothing more is to be paid: what is still open is cancelled at the provider from now on, not from its deadline. */
export async function settleOpenAttempts(session: Session, orderId: string): Promise<void> {
  await session.run(
    `UPDATE payment_attempt SET settle_at = NOW(3)
     WHERE order_id = ? AND ${attemptIsOpen} AND settle_at > NOW(3)`,
    [idToBytes(orderId)],
  );
}
