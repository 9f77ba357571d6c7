import { type AttemptRow, attemptColumns, toAttempt } from './attempt-row.ts';
import { claimDue } from './claim-due.ts';
import type { Database } from './database.ts';
import type { ClaimOptions, PaymentAttempt } from './payment-attempt.ts';
import type { Session } from './session.ts';

/**
 * A state at a time, so that each is a range of the index and nothing is sorted. First what was never asked about,
 * earliest first: its order waits. Then what was, latest first: the older it is, the less its order waits for it.
 */
const inTurn = [
  { state: 'OPEN', tries: 'tries = 0', order: 'ASC' },
  { state: 'CREATING', tries: 'tries = 0', order: 'ASC' },
  { state: 'OPEN', tries: 'tries > 0', order: 'DESC' },
  { state: 'CREATING', tries: 'tries > 0', order: 'DESC' },
] as const;

const dueAttempts = `FROM payment_attempt FORCE INDEX (payment_attempt_due)
  WHERE settle_at <= NOW(3) AND provider = ? AND (claimed_until IS NULL OR claimed_until <= NOW(3))`;

/**
 * Lease open attempts whose time to be settled has come by the database clock, those that were never asked about
 * before all others, however many of these there are. One that another settler has, or that waits for its next try,
 * is passed over; a lease that runs out frees the attempt. Locks attempts alone and waits for nobody. Attempts of
 * ended orders are claimed too: money may still arrive by them.
 */
export async function claimDueAttempts(database: Database, options: ClaimOptions): Promise<PaymentAttempt[]> {
  const rows = await claimDue<AttemptRow>(database, {
    isDue: { sql: `SELECT 1 ${dueAttempts} AND state IN ('OPEN', 'CREATING')`, values: [options.provider] },
    claim: (session) => claimOnce(session, options),
    witness: ({ id, tries }) => ({
      sql: 'SELECT 1 FROM payment_attempt WHERE id = ? AND tries = ?',
      values: [id, tries],
    }),
  });
  return rows.map(toAttempt);
}

async function claimOnce(
  session: Session,
  { provider, limit, leaseMs }: ClaimOptions,
): Promise<AttemptRow[]> {
  const ids: Buffer[] = [];
  for (const { state, tries, order } of inTurn) {
    if (ids.length >= limit) break;
    const due = await session.rows<{ id: Buffer }>(
      `SELECT id ${dueAttempts} AND state = ? AND ${tries}
       ORDER BY settle_at ${order} LIMIT ? FOR UPDATE SKIP LOCKED`,
      [provider, state, limit - ids.length],
    );
    ids.push(...due.map(({ id }) => id));
  }
  if (ids.length === 0) return [];
  await session.run(
    `UPDATE payment_attempt SET claimed_until = NOW(3) + INTERVAL ? MICROSECOND, tries = tries + 1
     WHERE id IN (?)`,
    [leaseMs * 1_000, ids],
  );
  const rows = await session.rows<AttemptRow>(
    `SELECT ${attemptColumns} FROM payment_attempt WHERE id IN (?)`,
    [ids],
  );
  const turnOf = new Map(ids.map((id, turn) => [id.toString('hex'), turn]));
  const turn = ({ id }: AttemptRow) => turnOf.get(id.toString('hex')) ?? 0;
  return rows.sort((left, right) => turn(left) - turn(right));
}
