import { idFromBytes, idToBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import { errorTextMax } from './error-text.ts';
import { insertShopEvents } from './insert-shop-events.ts';
import type { FinishRefundResult, RefundTry } from './payment.ts';
import { isPaidByHand } from './refund-paid-by-hand.ts';
import type { Session } from './session.ts';
import { inTransaction, withRetriedSession } from './transaction.ts';

/**
 * The provider has accepted a refund. Changes only one that is due under this id, so that a caller who comes back after
 * its lease changes nothing, also when the refund has failed since and another was ordered.
 * @returns `known` when the same refund has ended before; `superseded` when the money goes back in another way.
 */
export function finishRefund(
  database: Database,
  id: number,
  { refundId, refundRef }: { refundId: string; refundRef: string },
): Promise<FinishRefundResult> {
  return inTransaction(
    database,
    async (session) => {
      const { affectedRows } = await session.run(
        `UPDATE payment SET state = 'REFUNDED', refunded_at = NOW(3), refund_ref = ?, claimed_until = NULL,
           next_try_at = NULL, last_error = NULL WHERE id = ? AND state = 'REFUND_PENDING' AND refund_id = ?`,
        [Buffer.from(refundRef), id, idToBytes(refundId)],
      );
      if (affectedRows !== 1) return explain(session, id, refundId);
      const [payment] = await session.rows<{ order_id: Buffer }>(
        'SELECT order_id FROM payment WHERE id = ?',
        [id],
      );
      if (payment) await insertShopEvents(session, 'refunded', [idFromBytes(payment.order_id)]);
      return 'finished';
    },
    (result) =>
      result === 'finished'
        ? {
            sql: "SELECT 1 FROM payment WHERE id = ? AND refund_id = ? AND state IN ('REFUNDED', 'REFUND_FAILED')",
            values: [id, idToBytes(refundId)],
          }
        : null,
  );
}

async function explain(session: Session, id: number, refundId: string): Promise<FinishRefundResult> {
  const [row] = await session.rows<{ refund_id: Buffer | null; refund_ref: Buffer | null }>(
    'SELECT refund_id, refund_ref FROM payment WHERE id = ?',
    [id],
  );
  const isSame = row?.refund_id?.equals(idToBytes(refundId)) === true && !isPaidByHand(row.refund_ref);
  return isSame ? 'known' : 'superseded';
}

/**
 * A claimed refund was not accepted: it is still owed, and due again after `inMs`. For ever, until it is. The count of
 * tries is the token of the lease: one who comes back after its own, or to a refund that was ordered anew, frees
 * nothing of what another has in hand.
 */
export async function failRefund(
  database: Database,
  { id, refundId, tries }: RefundTry,
  { inMs, error }: { inMs: number; error: string },
): Promise<void> {
  await withRetriedSession(database, (session) =>
    session.run(
      `UPDATE payment SET next_try_at = NOW(3) + INTERVAL ? MICROSECOND, claimed_until = NULL, last_error = ?
       WHERE id = ? AND state = 'REFUND_PENDING' AND refund_id = ? AND refund_tries = ?`,
      [Math.ceil(inMs) * 1_000, error.slice(0, errorTextMax), id, idToBytes(refundId), tries],
    ),
  );
}
