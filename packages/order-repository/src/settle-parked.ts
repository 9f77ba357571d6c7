import type { Database } from './database.ts';
import { type ParkedRow, parkedColumns, toParked } from './list-parked.ts';
import type { Parked, ParkedOutcome, ParkedState } from './parked.ts';
import type { Session } from './session.ts';
import type { SettleRequest, SettleResult } from './settle-result.ts';
import { type SettledRow, settleRows } from './settle-rows.ts';

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

export type ParkedRequest = SettleRequest<number, ParkedOutcome>;

/**
 * Settle parked rows, as `settleRows` does it. Idempotent also without a key: a row that is settled is reported and
 * left alone, however often and from however many operators it is asked for at once.
 */
export function settleParked(
  database: Database,
  request: ParkedRequest,
  settling: Settling,
): Promise<SettleResult<ParkedOutcome>> {
  return settleRows<number, ParkedOutcome>(database, request, (session, id, dryRun) =>
    settleOne(session, id, dryRun, settling),
  );
}

async function settleOne(
  session: Session,
  id: number,
  dryRun: boolean,
  { action, toState, decide }: Settling,
): Promise<SettledRow<ParkedOutcome>> {
  const [row] = await session.rows<ParkedRow>(
    `SELECT ${parkedColumns} FROM parked WHERE id = ? ${dryRun ? '' : 'FOR UPDATE'}`,
    [id],
  );
  const untouched = { id, changed: false } as const;
  if (row === undefined) return { outcome: { ...untouched, kind: 'not_found' } };
  if (row.state !== 'PARKED') return { outcome: { ...untouched, kind: 'settled', state: row.state } };
  const verdict = await decide(session, toParked(row), dryRun);
  const settles = verdict.kind === 'redriven' || verdict.kind === 'dropped';
  if (dryRun || !settles) return { outcome: { ...untouched, ...verdict } };
  await session.run('UPDATE parked SET state = ?, settled_at = NOW(3) WHERE id = ?', [toState, id]);
  return {
    outcome: { id, changed: true, ...verdict },
    action: {
      action,
      targetKind: 'parked',
      target: String(id),
      detail: { parked: row.kind, ref: row.ref.toString('utf8'), verdict },
    },
  };
}
