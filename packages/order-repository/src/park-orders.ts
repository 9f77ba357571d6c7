import type { Phase } from '@lapse/contracts';
import { idToBytes } from './binary-id.ts';
import type { Failure } from './bisect.ts';
import type { Database } from './database.ts';
import { errorTextMax } from './error-text.ts';
import { isRowFault } from './mysql-fault.ts';
import type { RepositoryLog } from './order-repository.ts';
import { withRetriedSession } from './transaction.ts';

export interface ParkedOrders {
  readonly parked: string[];
  /** Failed for a reason that may as well be the system's: not done, ask again. */
  readonly doubtful: string[];
}

/**
 * Set aside the orders that failed alone, with the reason, so that they block nobody and an operator sees
 * them. One that cannot be reminded (phase 1) must still close; one that cannot close is done with in both
 * phases. Idempotent; one that was redriven and fails again is parked again. Only what is an order's own fault is
 * parked: the server refused its values, or others went through in the same call (`othersMoved`) and no more failed
 * than one call tries (`allTried`): what hits so many at once is hardly each one's own.
 * @throws the first error when none is an order's own: then it is surely the system's, and nothing is parked.
 */
export async function parkOrders(
  database: Database,
  log: RepositoryLog,
  phase: Phase,
  failures: readonly Failure[],
  { othersMoved, allTried }: { readonly othersMoved: boolean; readonly allTried: boolean },
): Promise<ParkedOrders> {
  const isOwnFault = ({ error }: Failure): boolean => (othersMoved && allTried) || isRowFault(error);
  const certain = failures.filter(isOwnFault);
  const doubtful = failures.filter((failure) => !isOwnFault(failure));
  const [first] = doubtful;
  if (first !== undefined) {
    if (certain.length === 0) throw first.error;
    log.warn({ err: first.error, orders: doubtful.length }, 'orders failed alone and are asked for again');
  }
  if (certain.length === 0) return { parked: [], doubtful: [] };
  const noBody = Buffer.alloc(32);
  await withRetriedSession(database, async (session) => {
    for (const { id, error } of certain) {
      await session.run(
        `INSERT INTO parked (kind, ref, body_hash, order_id, phase, reason, created_at)
         VALUES ('order', ?, ?, ?, ?, ?, NOW(3))
         ON DUPLICATE KEY UPDATE reason = ?,
           phase = IF(state = 'PARKED', GREATEST(phase, ?), ?), state = 'PARKED', settled_at = NULL`,
        [id, noBody, idToBytes(id), phase, reasonOf(error), reasonOf(error), phase, phase],
      );
    }
  });
  for (const { id, error } of certain) {
    log.error({ orderId: id, err: error }, 'order parked: its transaction fails even alone');
  }
  return { parked: idsOf(certain), doubtful: idsOf(doubtful) };
}

function idsOf(failures: readonly Failure[]): string[] {
  return failures.map(({ id }) => id);
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.slice(0, errorTextMax);
}
