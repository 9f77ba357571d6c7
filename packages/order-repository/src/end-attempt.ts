import { attemptIsOpen } from './attempt-row.ts';
import { idToBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import type { Session } from './session.ts';
import { inTransaction } from './transaction.ts';

/**
 * An attempt will never capture, as its provider says: note that, and let its order close when no other attempt of it
 * is open. Only an open attempt changes, so a repeat, or an answer that comes after a capture, changes nothing. FAILED
 * is for one that the provider refuses to begin: of two processes that begin the same attempt, the one that is refused
 * does not end what the other has opened.
 * @returns whether this call ended it.
 */
export function endAttempt(
  database: Database,
  id: string,
  state: 'CANCELLED' | 'FAILED',
  error: string | null = null,
): Promise<boolean> {
  const bytes = idToBytes(id);
  const mayEnd = state === 'FAILED' ? "state = 'CREATING'" : attemptIsOpen;
  return inTransaction(
    database,
    async (session) => {
      const [attempt] = await session.rows<{ order_id: Buffer }>(
        'SELECT order_id FROM payment_attempt WHERE id = ?',
        [bytes],
      );
      if (attempt === undefined) return false;
      // The order first, as everybody locks: a payment that has it decides before this or after, not meanwhile.
      await session.rows('SELECT id FROM orders WHERE id = ? FOR UPDATE', [attempt.order_id]);
      const { affectedRows } = await session.run(
        `UPDATE payment_attempt SET state = ?, ended_at = NOW(3), claimed_until = NULL, last_error = ?
         WHERE id = ? AND ${mayEnd}`,
        [state, error, bytes],
      );
      if (affectedRows === 1) await stopSettling(session, attempt.order_id);
      return affectedRows === 1;
    },
    (ended) =>
      ended
        ? { sql: 'SELECT 1 FROM payment_attempt WHERE id = ? AND state = ?', values: [bytes, state] }
        : null,
  );
}

/** Under the order's lock: it waits for no provider any more, unless another attempt of it is open. */
export async function stopSettling(session: Session, orderId: Buffer): Promise<void> {
  const open = await session.rows(
    `SELECT 1 FROM payment_attempt WHERE order_id = ? AND ${attemptIsOpen} LIMIT 1`,
    [orderId],
  );
  if (open.length > 0) return;
  await session.run('UPDATE orders SET settle_until = NULL WHERE id = ?', [orderId]);
}
