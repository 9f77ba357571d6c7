import { idFromBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import type { Session } from './session.ts';
import type { SettleRequest, SettleResult } from './settle-result.ts';
import { type SettledRow, settleRows } from './settle-rows.ts';
import { withRetriedSession } from './transaction.ts';
import type { DeliveryKind, ResendOutcome, Undelivered } from './undelivered.ts';

/** Most deliveries of one page. */
const pageMax = 500;

interface Row {
  readonly id: number;
  readonly order_id: Buffer;
  readonly what: string;
  readonly state: string;
  readonly attempts: number;
  readonly last_error: string | null;
  readonly created_at: Date;
}

/** The two tables are alike but for the name of what is delivered. */
const columnsOf: Readonly<Record<DeliveryKind, string>> = {
  notification: 'id, order_id, stage AS what, state, attempts, last_error, created_at',
  shop_event: 'id, order_id, type AS what, state, attempts, last_error, created_at',
};

/** Deliveries that were given up, oldest first; `afterId` is the last number of the page before. */
export async function listUndelivered(
  database: Database,
  kind: DeliveryKind,
  { afterId, limit }: { afterId: number; limit: number },
): Promise<Undelivered[]> {
  const rows = await withRetriedSession(database, (session) =>
    session.rows<Row>(
      `SELECT ${columnsOf[kind]} FROM ${kind} WHERE state = 'PARKED' AND id > ? ORDER BY id LIMIT ?`,
      [afterId, Math.min(limit, pageMax)],
    ),
  );
  return rows.map((row) => ({
    id: row.id,
    orderId: idFromBytes(row.order_id),
    what: row.what,
    attempts: row.attempts,
    lastError: row.last_error,
    createdAt: row.created_at,
  }));
}

/**
 * Have parked deliveries tried again, now and with all their tries, under the same ids, as `settleRows` does it. An
 * event that arrives frees the later ones of its order. Asked twice, it is done once.
 */
export function resendUndelivered(
  database: Database,
  kind: DeliveryKind,
  request: SettleRequest<number, ResendOutcome>,
): Promise<SettleResult<ResendOutcome>> {
  return settleRows<number, ResendOutcome>(database, request, (session, id, dryRun) =>
    resendOne(session, kind, id, dryRun),
  );
}

async function resendOne(
  session: Session,
  kind: DeliveryKind,
  id: number,
  dryRun: boolean,
): Promise<SettledRow<ResendOutcome>> {
  const [row] = await session.rows<Row>(
    `SELECT ${columnsOf[kind]} FROM ${kind} WHERE id = ? ${dryRun ? '' : 'FOR UPDATE'}`,
    [id],
  );
  if (row === undefined) return { outcome: { id, changed: false, kind: 'not_found' } };
  const { state, what, attempts } = row;
  if (state !== 'PARKED') return { outcome: { id, changed: false, kind: 'not_parked', state } };
  const orderId = idFromBytes(row.order_id);
  const outcome = { id, changed: !dryRun, kind: 'resent', orderId, what } as const;
  if (dryRun) return { outcome };
  await session.run(
    `UPDATE ${kind} SET state = 'WAITING', attempts_before = attempts, next_attempt_at = NOW(3),
       claimed_until = NULL WHERE id = ?`,
    [id],
  );
  return {
    outcome,
    action: {
      action: `resend_${kind}`,
      targetKind: 'order',
      target: orderId,
      detail: { id, what, attempts },
    },
  };
}
