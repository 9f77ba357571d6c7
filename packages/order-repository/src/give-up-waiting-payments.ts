import { idFromBytes, idToBytes, newId } from './binary-id.ts';
import { claimDue } from './claim-due.ts';
import type { Database } from './database.ts';

const keptTooLong = `FROM payment p FORCE INDEX (payment_state)
  WHERE p.state = 'WAITING' AND p.received_at <= NOW(3) - INTERVAL ? MICROSECOND
    AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.id = p.order_id)`;

/**
 * Payments whose order has not come for so long that it never will: their money goes back. One whose order is there by
 * now is left to be applied, and however many of those there are, they keep no other. An order that came even later would
 * find nothing paid, and its buyer refunded.
 * @returns the ids of the orders that are not there: nobody knows them, or the archive alone does. Fewer than `limit`: no
 * more are due that nobody else has locked.
 */
export function giveUpWaitingPayments(
  database: Database,
  { olderThanMs, limit }: { olderThanMs: number; limit: number },
): Promise<string[]> {
  const olderThanUs = olderThanMs * 1_000;
  return claimDue(database, {
    isDue: { sql: `SELECT 1 ${keptTooLong}`, values: [olderThanUs] },
    claim: async (session) => {
      const rows = await session.rows<{ id: number; order_id: Buffer }>(
        `SELECT p.id, p.order_id ${keptTooLong} ORDER BY p.received_at LIMIT ? FOR UPDATE SKIP LOCKED`,
        [olderThanUs, limit],
      );
      const orphans: string[] = [];
      for (const { id, order_id } of rows) {
        const archived = await session.rows('SELECT 1 FROM order_archive WHERE order_id = ?', [order_id]);
        await session.run(
          `UPDATE payment SET state = 'REFUND_PENDING', refund_id = ?, reason = ?, next_try_at = NOW(3) WHERE id = ?`,
          [idToBytes(newId()), archived.length > 0 ? 'the order is over and archived' : 'no such order', id],
        );
        orphans.push(idFromBytes(order_id));
      }
      return orphans;
    },
    // Not known to be done: the next run finds them again, or does not.
    witness: () => null,
  });
}
