import { idFromBytes, idToBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import { insertOperatorAction } from './insert-operator-action.ts';
import type { SettleParkedOptions } from './parked.ts';
import type { Session } from './session.ts';
import { inTransaction, withRetriedSession } from './transaction.ts';
import type { DeliveryKind, ResendOutcome, Undelivered } from './undelivered.ts';

/** Most deliveries of one call, and of one page. */
const undeliveredMax = 500;

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
      [afterId, Math.min(limit, undeliveredMax)],
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
 * Have parked deliveries tried again, now and with all their tries, under the same ids; each leaves a row of who asked
 * for it and why. An event that arrives frees the later ones of its order. Asked twice, it is done once.
 * @returns one outcome for each id, in input order.
 */
export async function resendUndelivered(
  database: Database,
  kind: DeliveryKind,
  ids: readonly number[],
  options: SettleParkedOptions,
): Promise<ResendOutcome[]> {
  if (ids.length > undeliveredMax) {
    throw new RangeError(`${ids.length} ids in one call; at most ${undeliveredMax}`);
  }
  if (ids.length === 0) return [];
  const { outcomes } = await inTransaction(
    database,
    (session) => resendOnce(session, kind, ids, options),
    ({ actionId }) =>
      actionId === null
        ? null
        : { sql: 'SELECT 1 FROM operator_action WHERE id = ?', values: [idToBytes(actionId)] },
  );
  return outcomes;
}

async function resendOnce(
  session: Session,
  kind: DeliveryKind,
  ids: readonly number[],
  { dryRun, actor, reason }: SettleParkedOptions,
): Promise<{ outcomes: ResendOutcome[]; actionId: string | null }> {
  const rows = await session.rows<Row>(
    `SELECT ${columnsOf[kind]} FROM ${kind} WHERE id IN (?) ORDER BY id ${dryRun ? '' : 'FOR UPDATE'}`,
    [ids],
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  const outcomes = ids.map((id) => outcomeOf(id, byId.get(id), dryRun));
  if (dryRun) return { outcomes, actionId: null };
  let actionId: string | null = null;
  for (const row of rows) {
    if (row.state !== 'PARKED') continue;
    await session.run(
      `UPDATE ${kind} SET state = 'WAITING', attempts_before = attempts, next_attempt_at = NOW(3),
         claimed_until = NULL WHERE id = ?`,
      [row.id],
    );
    actionId = await insertOperatorAction(session, {
      actor,
      reason,
      action: `resend_${kind}`,
      targetKind: 'order',
      target: idFromBytes(row.order_id),
      detail: { id: row.id, what: row.what, attempts: row.attempts },
    });
  }
  return { outcomes, actionId };
}

function outcomeOf(id: number, row: Row | undefined, dryRun: boolean): ResendOutcome {
  if (row === undefined) return { id, kind: 'not_found', changed: false };
  const { state, what } = row;
  if (state !== 'PARKED') return { id, kind: 'not_parked', state, changed: false };
  return { id, kind: 'resent', changed: !dryRun, orderId: idFromBytes(row.order_id), what };
}
