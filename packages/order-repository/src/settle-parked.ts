import { idToBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import { insertOperatorAction } from './insert-operator-action.ts';
import { type ParkedRow, parkedColumns, toParked } from './list-parked.ts';
import { isRowFault } from './mysql-fault.ts';
import type { Parked, ParkedOutcome, ParkedState, SettleParkedOptions } from './parked.ts';
import type { Session } from './session.ts';
import { inTransaction } from './transaction.ts';

/** Each is a transaction of its own; a longer list is sent in parts. */
const idsPerCallMax = 200;

/** A decision as far as the parked row's own state does not make it; `changed` is filled in here. */
export type Verdict =
  | { readonly kind: 'redriven'; readonly rearmed: number }
  | { readonly kind: 'dropped' }
  | { readonly kind: 'unreadable'; readonly reason: string }
  | { readonly kind: 'still_pending'; readonly orderId: string };

export interface Settling {
  readonly action: 'redrive' | 'drop';
  readonly toState: Exclude<ParkedState, 'PARKED'>;
  /** Decide about one row whose lock is held. In a dry run it must only read. */
  readonly decide: (session: Session, parked: Parked, dryRun: boolean) => Promise<Verdict>;
}

/**
 * Settle parked rows, each in its own transaction: the decision, the row's new state, and the operator's
 * action are committed together. Idempotent: a row that is settled is reported and left alone, however
 * often and from however many operators it is asked for at once.
 * @throws RangeError for more than 200 ids.
 */
export async function settleParked(
  database: Database,
  ids: readonly number[],
  options: SettleParkedOptions,
  settling: Settling,
): Promise<ParkedOutcome[]> {
  if (ids.length > idsPerCallMax)
    throw new RangeError(`${ids.length} ids in one call; at most ${idsPerCallMax}`);
  const outcomes: ParkedOutcome[] = [];
  for (const id of new Set(ids)) {
    try {
      outcomes.push(await settleAlone(database, id, options, settling));
    } catch (error) {
      if (!isRowFault(error)) throw error;
      outcomes.push({ id, changed: false, kind: 'failed', reason: (error as Error).message });
    }
  }
  return outcomes;
}

async function settleAlone(
  database: Database,
  id: number,
  options: SettleParkedOptions,
  settling: Settling,
): Promise<ParkedOutcome> {
  const { outcome } = await inTransaction(
    database,
    (session) => settleOne(session, id, options, settling),
    ({ actionId }) =>
      actionId === null
        ? null
        : { sql: 'SELECT 1 FROM operator_action WHERE id = ?', values: [idToBytes(actionId)] },
  );
  return outcome;
}

async function settleOne(
  session: Session,
  id: number,
  { dryRun, actor, reason }: SettleParkedOptions,
  { action, toState, decide }: Settling,
): Promise<{ outcome: ParkedOutcome; actionId: string | null }> {
  const [row] = await session.rows<ParkedRow>(
    `SELECT ${parkedColumns} FROM parked WHERE id = ? ${dryRun ? '' : 'FOR UPDATE'}`,
    [id],
  );
  const untouched = { id, changed: false } as const;
  if (row === undefined) return { outcome: { ...untouched, kind: 'not_found' }, actionId: null };
  if (row.state !== 'PARKED')
    return { outcome: { ...untouched, kind: 'settled', state: row.state }, actionId: null };
  const verdict = await decide(session, toParked(row), dryRun);
  const settles = verdict.kind === 'redriven' || verdict.kind === 'dropped';
  if (dryRun || !settles) return { outcome: { ...untouched, ...verdict }, actionId: null };
  await session.run('UPDATE parked SET state = ?, settled_at = NOW(3) WHERE id = ?', [toState, id]);
  const actionId = await insertOperatorAction(session, {
    actor,
    action,
    targetKind: 'parked',
    target: String(id),
    reason,
    detail: { parked: row.kind, ref: row.ref.toString('utf8'), verdict },
  });
  return { outcome: { id, changed: true, ...verdict }, actionId };
}
