import { idFromBytes } from './binary-id.ts';
import { claimDue, deliveryIsDue } from './claim-due.ts';
import type { Database } from './database.ts';
import type { Session } from './session.ts';
import type { ShopEventJob, ShopEventType } from './shop-event.ts';

interface JobRow {
  readonly id: number;
  readonly event_id: Buffer;
  readonly order_id: Buffer;
  readonly type: ShopEventType;
  readonly body: string;
  readonly attempts: number;
  readonly attempts_before: number;
}

/**
 * Lease events that are due, longest waiting first, at most one of an order: what is behind it is HELD. An event
 * is in one caller's hands until its lease ends. One that was claimed and never finished comes back: delivery
 * is at least once, and each attempt is counted before it is made.
 */
export async function claimShopEvents(
  database: Database,
  options: { limit: number; leaseMs: number },
): Promise<ShopEventJob[]> {
  const rows = await claimDue<JobRow>(database, {
    isDue: { sql: `SELECT 1 FROM shop_event WHERE ${deliveryIsDue}`, values: [] },
    claim: (session) => claimOnce(session, options),
    witness: ({ id, attempts }) => ({
      sql: 'SELECT 1 FROM shop_event WHERE id = ? AND attempts = ?',
      values: [id, attempts],
    }),
  });
  return rows.map((row) => ({
    id: row.id,
    eventId: idFromBytes(row.event_id),
    orderId: idFromBytes(row.order_id),
    type: row.type,
    body: row.body,
    attempts: row.attempts,
    tries: row.attempts - row.attempts_before,
  }));
}

async function claimOnce(
  session: Session,
  { limit, leaseMs }: { limit: number; leaseMs: number },
): Promise<JobRow[]> {
  const found = await session.rows<{ id: number }>(
    `SELECT id FROM shop_event WHERE ${deliveryIsDue}
     ORDER BY next_attempt_at LIMIT ? FOR UPDATE SKIP LOCKED`,
    [limit],
  );
  if (found.length === 0) return [];
  const ids = found.map(({ id }) => id);
  await session.run(
    `UPDATE shop_event SET claimed_until = NOW(3) + INTERVAL ? MICROSECOND, attempts = attempts + 1
     WHERE id IN (?)`,
    [leaseMs * 1_000, ids],
  );
  return session.rows<JobRow>(
    `SELECT id, event_id, order_id, type, body, attempts, attempts_before
     FROM shop_event WHERE id IN (?) ORDER BY next_attempt_at, id`,
    [ids],
  );
}
