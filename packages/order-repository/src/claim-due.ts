import type { Database } from './database.ts';
import type { Session } from './session.ts';
import { inTransaction, type Witness, withRetriedSession } from './transaction.ts';

export interface Claim<Row> {
  /** Finds a row when something may be due; what others have claimed may count. */
  readonly isDue: { readonly sql: string; readonly values: readonly unknown[] };
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
  const found = await withRetriedSession(database, (session) =>
    session.rows(`${isDue.sql} LIMIT 1`, isDue.values),
  );
  if (found.length === 0) return [];
  return await inTransaction(database, claim, ([first]) => (first ? witness(first) : null));
}
