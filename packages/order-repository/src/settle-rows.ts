import type { Database } from './database.ts';
import { isRowFault } from './mysql-fault.ts';
import { changeByOperator } from './operator-change.ts';
import type { ChangeAction } from './operator-result.ts';
import type { Session } from './session.ts';
import type { RowRefused, SettleRequest, SettleResult } from './settle-result.ts';
import { withRetriedSession } from './transaction.ts';

/** One transaction settles them all; a longer list is sent in parts. */
const idsPerCallMax = 200;

/** An outcome, and what to note of it when it changed something. */
export interface SettledRow<Outcome> {
  readonly outcome: Outcome;
  readonly action?: ChangeAction;
}

/** Decide about one row and, unless `dryRun`, lock it and do it. In a dry run it must only read. */
export type SettleRow<Id, Outcome> = (
  session: Session,
  id: Id,
  dryRun: boolean,
) => Promise<SettledRow<Outcome>>;

/**
 * Settle rows by an operator's hand, all in one transaction: their new states, one row for each of who asked for it
 * and why, and the answer under the idempotency key. So a request that died half way did nothing, and its repeat does
 * all of it. A row that MySQL refuses is undone alone and reported. Rows are locked in the order of their ids, so
 * that two operators do not meet in a deadlock.
 * @throws RangeError for more than 200 ids.
 */
export async function settleRows<Id extends number | string, Outcome>(
  database: Database,
  { ids, options, answer }: SettleRequest<Id, Outcome | RowRefused<Id>>,
  settle: SettleRow<Id, Outcome>,
): Promise<SettleResult<Outcome | RowRefused<Id>>> {
  if (ids.length > idsPerCallMax)
    throw new RangeError(`${ids.length} ids in one call; at most ${idsPerCallMax}`);
  const distinct = [...new Set(ids)];
  if (options.dryRun) {
    const rows = await withRetriedSession(database, (session) => settleEach(session, distinct, true, settle));
    const result = rows.map(({ outcome }) => outcome);
    return { kind: 'done', result, answer: answer(result) };
  }
  return changeByOperator<readonly (Outcome | RowRefused<Id>)[], never>(database, options, {
    change: async (session) => {
      const rows = await settleEach(session, distinct, false, settle);
      const actions = rows.flatMap(({ action }) => action ?? []);
      return { kind: 'done', result: rows.map(({ outcome }) => outcome), actions };
    },
    answer,
  });
}

/** @returns one entry for each id, in input order. */
async function settleEach<Id extends number | string, Outcome>(
  session: Session,
  ids: readonly Id[],
  dryRun: boolean,
  settle: SettleRow<Id, Outcome>,
): Promise<SettledRow<Outcome | RowRefused<Id>>[]> {
  const settled = new Map<Id, SettledRow<Outcome | RowRefused<Id>>>();
  for (const id of [...ids].sort((a, b) => (a < b ? -1 : 1))) {
    settled.set(id, dryRun ? await settle(session, id, true) : await settleAlone(session, id, settle));
  }
  return ids.flatMap((id) => settled.get(id) ?? []);
}

async function settleAlone<Id, Outcome>(
  session: Session,
  id: Id,
  settle: SettleRow<Id, Outcome>,
): Promise<SettledRow<Outcome | RowRefused<Id>>> {
  await session.run('SAVEPOINT settle_row');
  try {
    return await settle(session, id, false);
  } catch (error) {
    if (!isRowFault(error)) throw error;
    await session.run('ROLLBACK TO SAVEPOINT settle_row');
    return { outcome: { id, changed: false, kind: 'failed', reason: (error as Error).message } };
  }
}
