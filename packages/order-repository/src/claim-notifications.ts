import type { OrderStatus } from '@lapse/contracts';
import { idFromBytes } from './binary-id.ts';
import { claimDue, deliveryIsDue } from './claim-due.ts';
import type { Database } from './database.ts';
import type { NoticeJob, NoticeStage } from './notification.ts';
import type { Session } from './session.ts';
import { userFromBytes } from './user-bytes.ts';

interface JobRow {
  readonly id: number;
  readonly stage: NoticeStage;
  readonly attempts: number;
  readonly attempts_before: number;
  readonly order_id: Buffer;
  readonly activity_id: number;
  readonly name: string;
  readonly user_id: Buffer;
  readonly locale: string;
  readonly quantity: number;
  readonly amount_minor: number;
  readonly currency: string;
  readonly status: OrderStatus;
  readonly expires_at: Date;
}

/** A reminder is worth something only before the deadline, so a backlog of closed notices never delays it. */
const stagesByUrgency: readonly NoticeStage[] = ['REMINDER', 'CLOSED'];

/**
 * Lease notices that are due, reminders first and oldest first, with all that their text needs. A notice is in one caller's hands
 * until its lease ends. One that was claimed and never finished comes back: delivery is at least once, and
 * each attempt is counted before it is made.
 */
export async function claimNotifications(
  database: Database,
  options: { limit: number; leaseMs: number },
): Promise<NoticeJob[]> {
  const rows = await claimDue<JobRow>(database, {
    isDue: {
      sql: `SELECT 1 FROM notification WHERE ${deliveryIsDue} AND stage IN (?)`,
      values: [stagesByUrgency],
    },
    claim: (session) => claimOnce(session, options),
    witness: ({ id, attempts }) => ({
      sql: 'SELECT 1 FROM notification WHERE id = ? AND attempts = ?',
      values: [id, attempts],
    }),
  });
  return rows.map(toJob);
}

async function claimOnce(
  session: Session,
  { limit, leaseMs }: { limit: number; leaseMs: number },
): Promise<JobRow[]> {
  const ids: number[] = [];
  for (const stage of stagesByUrgency) {
    const found = await session.rows<{ id: number }>(
      `SELECT id FROM notification WHERE ${deliveryIsDue} AND stage = ?
       ORDER BY next_attempt_at LIMIT ? FOR UPDATE SKIP LOCKED`,
      [stage, limit - ids.length],
    );
    ids.push(...found.map(({ id }) => id));
    if (ids.length >= limit) break;
  }
  if (ids.length === 0) return [];
  await session.run(
    `UPDATE notification SET claimed_until = NOW(3) + INTERVAL ? MICROSECOND, attempts = attempts + 1
     WHERE id IN (?)`,
    [leaseMs * 1_000, ids],
  );
  return session.rows<JobRow>(
    `SELECT n.id, n.stage, n.attempts, n.attempts_before, n.order_id, o.activity_id, a.name, o.user_id, o.locale, o.quantity,
       o.amount_minor, o.currency, o.status, o.expires_at
     FROM notification n JOIN orders o ON o.id = n.order_id JOIN activity a ON a.id = o.activity_id
     WHERE n.id IN (?) ORDER BY n.stage, n.next_attempt_at, n.id`,
    [ids],
  );
}

function toJob(row: JobRow): NoticeJob {
  return {
    id: row.id,
    stage: row.stage,
    orderId: idFromBytes(row.order_id),
    activityId: row.activity_id,
    activityName: row.name,
    userId: userFromBytes(row.user_id),
    locale: row.locale,
    quantity: row.quantity,
    amountMinor: row.amount_minor,
    currency: row.currency,
    status: row.status,
    expiresAt: row.expires_at,
    attempts: row.attempts,
    tries: row.attempts - row.attempts_before,
  };
}
