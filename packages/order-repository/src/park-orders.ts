import type { Phase } from '@lapse/contracts';
import { idToBytes } from './binary-id.ts';
import type { Failure } from './bisect.ts';
import type { Database } from './database.ts';
import { isRowFault } from './mysql-fault.ts';
import type { RepositoryLog } from './order-repository.ts';
import { withRetriedSession } from './transaction.ts';

const reasonLengthMax = 1_000;

/**
 * Set aside the orders that failed alone, with the reason, so that they block nobody and an operator sees
 * them. One that cannot be reminded (phase 1) must still close; one that cannot close is done with in both
 * phases. Idempotent; one that was redriven and fails again is parked again. Only what is an order's own fault is parked: the server refused its values, or others
 * went through in the same call (`othersMoved`).
 * @throws the first error that may as well be the system's: then nothing is parked.
 */
export async function parkOrders(
  database: Database,
  log: RepositoryLog,
  phase: Phase,
  failures: readonly Failure[],
  othersMoved: boolean,
): Promise<string[]> {
  if (failures.length === 0) return [];
  const doubtful = failures.find(({ error }) => !othersMoved && !isRowFault(error));
  if (doubtful) throw doubtful.error;
  const noBody = Buffer.alloc(32);
  await withRetriedSession(database, async (session) => {
    for (const { id, error } of failures) {
      await session.run(
        `INSERT INTO parked (kind, ref, body_hash, order_id, phase, reason, created_at)
         VALUES ('order', ?, ?, ?, ?, ?, NOW(3))
         ON DUPLICATE KEY UPDATE reason = ?,
           phase = IF(state = 'PARKED', GREATEST(phase, ?), ?), state = 'PARKED', settled_at = NULL`,
        [id, noBody, idToBytes(id), phase, reasonOf(error), reasonOf(error), phase, phase],
      );
    }
  });
  for (const { id, error } of failures) {
    log.error({ orderId: id, err: error }, 'order parked: its transaction fails even alone');
  }
  return failures.map(({ id }) => id);
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.slice(0, reasonLengthMax);
}
