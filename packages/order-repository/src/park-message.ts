import { createHash } from 'node:crypto';
import type { Database } from './database.ts';
import { errorTextMax } from './error-text.ts';
import type { ParkedMessage } from './order-repository.ts';
import { withRetriedSession } from './transaction.ts';

/** A broker's id is far shorter; what is longer is cut, the body's hash still tells messages apart. */
const refLengthMax = 255;

/**
 * Keep a message that cannot be handled, or one that the broker gave up on, so that it may be acknowledged.
 * Idempotent per kind, message and body: what was settled since stays settled.
 */
export async function parkMessage(
  database: Database,
  kind: 'message' | 'dead_letter',
  { messageId, phase, reason, body }: ParkedMessage,
): Promise<void> {
  const hash = createHash('sha256').update(body).digest();
  await withRetriedSession(database, (session) =>
    session.run(
      `INSERT INTO parked (kind, ref, body_hash, phase, reason, body, created_at)
       VALUES (?, ?, ?, ?, ?, ?, NOW(3)) ON DUPLICATE KEY UPDATE id = parked.id`,
      [
        kind,
        Buffer.from(messageId).subarray(0, refLengthMax),
        hash,
        phase,
        reason.slice(0, errorTextMax),
        body,
      ],
    ),
  );
}
