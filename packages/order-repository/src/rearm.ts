import type { OutboxRow, Phase, TimeoutOrder } from '@lapse/contracts';
import { idFromBytes, idToBytes, newId, sortedIdBytes } from './binary-id.ts';
import { idsPerCallMax } from './close-expired.ts';
import type { Database } from './database.ts';
import { insertOutboxRow } from './insert-outbox-row.ts';
import type { Session } from './session.ts';
import { inTransaction } from './transaction.ts';
import { userFromBytes } from './user-bytes.ts';

/** An order of which the phase is still to be done. */
export interface RearmableRow {
  readonly id: Buffer;
  readonly activity_id: number;
  readonly user_id: Buffer;
  readonly created_at: Date;
  readonly due_at: Date;
}

const columnsOfPhase = {
  1: { due: 'remind_at', outbox: 'reminder_outbox_id', stillOpen: 'AND reminded_at IS NULL' },
  2: { due: 'expires_at', outbox: 'close_outbox_id', stillOpen: '' },
} as const;

/**
 * Ask for the phase's message once more, for orders that came too early to be handled: one new outbox row
 * with the due times that the rows have now. Orders that are no longer pending need none. A message too many
 * does no harm, so a repeat is safe.
 * @returns null when no order needs it.
 */
export async function rearm(
  database: Database,
  phase: Phase,
  ids: readonly string[],
): Promise<OutboxRow | null> {
  if (ids.length > idsPerCallMax)
    throw new RangeError(`${ids.length} ids in one call; at most ${idsPerCallMax}`);
  const sorted = sortedIdBytes(ids);
  if (sorted.length === 0) return null;
  return inTransaction(
    database,
    async (session) => rearmLocked(session, phase, await selectRearmable(session, phase, sorted, true)),
    (outbox) =>
      outbox && { sql: 'SELECT 1 FROM message_outbox WHERE id = ?', values: [idToBytes(outbox.id)] },
  );
}

/** The orders among these that still have something to do in the phase, with the times of now. */
export function selectRearmable(
  session: Session,
  phase: Phase,
  ids: readonly Buffer[],
  lock: boolean,
): Promise<RearmableRow[]> {
  const { due, stillOpen } = columnsOfPhase[phase];
  return session.rows<RearmableRow>(
    `SELECT id, activity_id, user_id, created_at, ${due} AS due_at
     FROM orders FORCE INDEX (PRIMARY) WHERE id IN (?) AND status = 'PENDING' ${stillOpen}
     ORDER BY id ${lock ? 'FOR UPDATE' : ''}`,
    [ids],
  );
}

/** Write the new outbox row of orders whose locks this transaction holds. */
export async function rearmLocked(
  session: Session,
  phase: Phase,
  rows: readonly RearmableRow[],
): Promise<OutboxRow | null> {
  if (rows.length === 0) return null;
  const outboxId = newId();
  const row = await insertOutboxRow(session, outboxId, phase, rows.map(toTimeoutOrder));
  await session.run(
    `UPDATE orders FORCE INDEX (PRIMARY) SET ${columnsOfPhase[phase].outbox} = ? WHERE id IN (?)`,
    [idToBytes(outboxId), rows.map(({ id }) => id)],
  );
  return row;
}

function toTimeoutOrder(row: RearmableRow): TimeoutOrder {
  return {
    orderId: idFromBytes(row.id),
    activityId: row.activity_id,
    userId: userFromBytes(row.user_id),
    createTime: row.created_at.getTime(),
    dueTime: row.due_at.getTime(),
  };
}
