import type { OutboxRow, Phase, TimeoutOrder } from '@lapse/contracts';
import { idFromBytes } from './binary-id.ts';
import { claimDue } from './claim-due.ts';
import type { Database } from './database.ts';
import type { ClaimOutboxOptions } from './order-repository.ts';
import type { Session } from './session.ts';

interface UnsentRow {
  readonly id: Buffer;
  readonly phase: Phase;
  readonly body: string;
  readonly attempts: number;
}

const unsent = `FROM message_outbox
  WHERE sent_at IS NULL AND created_at <= NOW(3) - INTERVAL ? MICROSECOND
    AND (claimed_until IS NULL OR claimed_until <= NOW(3))`;

/**
 * Lease outbox rows that nobody has sent for a while, oldest first. Rows leased or locked by others are
 * passed over, so any number of senders may claim at once; a lease that runs out frees the row.
 */
export async function claimOutbox(database: Database, options: ClaimOutboxOptions): Promise<OutboxRow[]> {
  const rows = await claimDue<UnsentRow>(database, {
    isDue: { sql: `SELECT 1 ${unsent}`, values: [options.olderThanMs * 1_000] },
    claim: (session) => claimOnce(session, options),
    witness: ({ id, attempts }) => ({
      sql: 'SELECT 1 FROM message_outbox WHERE id = ? AND attempts = ?',
      values: [id, attempts + 1],
    }),
  });
  return rows.map(({ id, phase, body }) => ({
    id: idFromBytes(id),
    phase,
    orders: JSON.parse(body) as TimeoutOrder[],
  }));
}

async function claimOnce(
  session: Session,
  { olderThanMs, limit, leaseMs }: ClaimOutboxOptions,
): Promise<UnsentRow[]> {
  const rows = await session.rows<UnsentRow>(
    `SELECT id, phase, body, attempts ${unsent}
     ORDER BY created_at LIMIT ? FOR UPDATE SKIP LOCKED`,
    [olderThanMs * 1_000, limit],
  );
  if (rows.length === 0) return rows;
  await session.run(
    `UPDATE message_outbox SET claimed_until = NOW(3) + INTERVAL ? MICROSECOND, attempts = attempts + 1
     WHERE id IN (?)`,
    [leaseMs * 1_000, rows.map(({ id }) => id)],
  );
  return rows;
}
