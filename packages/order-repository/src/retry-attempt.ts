import { idToBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import { errorTextMax } from './error-text.ts';
import { withRetriedSession } from './transaction.ts';

/** A claimed attempt could not be settled now: it is free for the next claim after `inMs`. */
export async function retryAttempt(
  database: Database,
  id: string,
  { inMs, error }: { inMs: number; error: string },
): Promise<void> {
  await withRetriedSession(database, (session) =>
    session.run(
      'UPDATE payment_attempt SET claimed_until = NOW(3) + INTERVAL ? MICROSECOND, last_error = ? WHERE id = ?',
      [Math.ceil(inMs) * 1_000, error.slice(0, errorTextMax), idToBytes(id)],
    ),
  );
}
