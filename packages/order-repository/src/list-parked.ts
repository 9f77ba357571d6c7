import type { Phase } from '@lapse/contracts';
import { idFromBytes, idToBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import type { Parked, ParkedFilter, ParkedKind, ParkedState } from './parked.ts';
import type { Session } from './session.ts';
import { withRetriedSession } from './transaction.ts';
import { userFromBytes } from './user-bytes.ts';

/** Bodies are up to a message long, so a page stays small. */
const pageMax = 200;

export interface ParkedRow {
  readonly id: number;
  readonly kind: ParkedKind;
  readonly state: ParkedState;
  readonly ref: Buffer;
  readonly order_id: Buffer | null;
  readonly phase: Phase | null;
  readonly reason: string;
  readonly body: Buffer | null;
  readonly created_at: Date;
  readonly settled_at: Date | null;
}

export const parkedColumns = 'id, kind, state, ref, order_id, phase, reason, body, created_at, settled_at';

/** What was set aside, oldest first, a page at a time: `afterId` is the last number of the page before. */
export function listParked(
  database: Database,
  filter: ParkedFilter,
  { afterId, limit }: { afterId: number; limit: number },
): Promise<Parked[]> {
  const conditions = ['id > ?'];
  const values: unknown[] = [afterId];
  const add = (condition: string, value: unknown): void => {
    if (value === undefined) return;
    conditions.push(condition);
    values.push(value);
  };
  add('kind = ?', filter.kind);
  add('state = ?', filter.state);
  add('order_id = ?', filter.orderId === undefined ? undefined : idToBytes(filter.orderId));
  return withRetriedSession(database, async (session) => {
    const rows = await session.rows<ParkedRow>(
      `SELECT ${parkedColumns} FROM parked WHERE ${conditions.join(' AND ')} ORDER BY id LIMIT ?`,
      [...values, Math.min(limit, pageMax)],
    );
    const settlings = await readSettlings(session, rows);
    return rows.map((row) => ({ ...toParked(row), ...settlings.get(String(row.id)) }));
  });
}

export function toParked(row: ParkedRow): Parked {
  return {
    id: row.id,
    kind: row.kind,
    state: row.state,
    ref: row.ref.toString('utf8'),
    orderId: row.order_id === null ? null : idFromBytes(row.order_id),
    phase: row.phase,
    reason: row.reason,
    body: row.body,
    createdAt: row.created_at,
    settledAt: row.settled_at,
    settledBy: null,
    settledReason: null,
  };
}

type Settling = Pick<Parked, 'settledBy' | 'settledReason'>;

/** Of the rows that are settled, by their numbers: their settling left its actor and reason. */
async function readSettlings(session: Session, rows: readonly ParkedRow[]): Promise<Map<string, Settling>> {
  const settled = rows.filter(({ state }) => state !== 'PARKED').map(({ id }) => Buffer.from(String(id)));
  if (settled.length === 0) return new Map();
  const actions = await session.rows<{ target: Buffer; actor: Buffer; reason: string }>(
    `SELECT target, actor, reason FROM operator_action
     WHERE target_kind = 'parked' AND target IN (?) ORDER BY at, id LIMIT ?`,
    [settled, pageMax],
  );
  return new Map(
    actions.map(({ target, actor, reason }) => [
      target.toString(),
      { settledBy: userFromBytes(actor), settledReason: reason },
    ]),
  );
}
