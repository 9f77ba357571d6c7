import type { Database } from './database.ts';
import type { Session } from './session.ts';
import { inTransaction, type Witness, withRetriedSession } from './transaction.ts';

/** Of notices and of events for the shop alike. */
export const deliveryIsDue = `state = 'WAITING' AND next_attempt_at <= NOW(3)
  AND (claimed_until IS NULL OR claimed_until <= NOW(3))`;

export interface Query {
  readonly sql: string;
  readonly values: readonly unknown[];
}

export interface Claim<Row> {
  /** Finds a row when something may be due; what others have claimed may count. */
  readonly isDue: Query;
  /** Claims what is due, in one transaction. */
  readonly claim: (session: Session) => Promise<Row[]>;
  /** Asked with the first row that was claimed; null when a claim that is lost does no harm. */
  readonly witness: (first: Row) => Witness | null;
}

/**
 * Claim what is due, if anything is. Most looks of a system at rest find nothing: those cost one statement that locks
 * nothing, instead of a transaction of up to six.
 */
export async function claimDue<Row>(
  database: Database,
  { isDue, claim, witness }: Claim<Row>,
): Promise<Row[]> {
  if (!(await findsAny(database, isDue))) return [];
  return await inTransaction(database, claim, ([first]) => (first ? witness(first) : null));
}

/** Whether a query finds a row: a look that locks nothing. */
export async function findsAny(database: Database, { sql, values }: Query): Promise<boolean> {
  const found = await withRetriedSession(database, (session) => session.rows(`${sql} LIMIT 1`, values));
  return found.length > 0;
}
