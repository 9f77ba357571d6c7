import { idFromBytes, packIds, unpackIds } from './binary-id.ts';
import { bisect } from './bisect.ts';
import { findsAny } from './claim-due.ts';
import type { Database } from './database.ts';
import { CommitUnknownError, isUnavailable } from './errors.ts';
import { isRowFault, toStoreError } from './mysql-fault.ts';
import type { RepositoryLog } from './order-repository.ts';
import type { Session } from './session.ts';
import { inTransaction, withRetriedSession } from './transaction.ts';

/** Tries of one effect. The n-th comes no sooner than n * n seconds after its commit, so all span 6 minutes. */
export const expandAttemptsMax = 20;

interface EffectRow {
  readonly id: Buffer;
  readonly order_ids: Buffer;
  readonly attempts: number;
}

/** Orders named in a log line. */
const idsPerLineMax = 20;

/** An effect whose transaction was rolled back by what `expand` threw. */
class ExpandFault extends Error {
  readonly row: EffectRow;
  constructor(row: EffectRow, cause: unknown) {
    super('an effect could not be expanded', { cause });
    this.row = row;
  }
}

/**
 * Turn effects of one kind into rows of their own, each in a transaction that deletes the effect: so each is
 * done once, however many callers there are. One that fails is passed over, tried again later, and left in
 * the table after `expandAttemptsMax`: it never keeps the others waiting. Nor does one order keep those of its own
 * effect waiting: where MySQL refuses a row, the others are expanded without it, and the effect keeps what was refused.
 * So `expand` must be safe to repeat.
 * @returns how many were done; below `limit`, none is left that is free.
 * @throws StoreUnavailableError, CommitUnknownError: those are no effect's fault.
 */
export async function expandEffects(
  database: Database,
  log: RepositoryLog,
  { kind, limit }: { kind: 'closed_notice' | 'shop_event'; limit: number },
  expand: (session: Session, orderIds: readonly string[]) => Promise<void>,
): Promise<number> {
  // A look without locks: mostly nothing is there.
  const isDue = { sql: `SELECT 1 ${dueEffects}`, values: [kind, expandAttemptsMax] };
  if (!(await findsAny(database, isDue))) return 0;
  const failed: Buffer[] = [];
  let done = 0;
  while (done + failed.length < limit) {
    try {
      // A commit that is not known: the effect is either done, or found again by the next call.
      const found = await inTransaction(
        database,
        (session) => expandNext(session, kind, failed, expand),
        () => null,
      );
      if (!found) break;
      done += 1;
    } catch (error) {
      if (!(error instanceof ExpandFault)) throw error;
      failed.push(error.row.id);
      await noteFault(database, log, kind, error, await expandInParts(database, error, expand));
    }
  }
  return done;
}

const dueEffects = `FROM effect
  WHERE kind = ? AND attempts < ? AND created_at <= NOW(3) - INTERVAL attempts * attempts SECOND`;

async function expandNext(
  session: Session,
  kind: string,
  failed: readonly Buffer[],
  expand: (session: Session, orderIds: readonly string[]) => Promise<void>,
): Promise<boolean> {
  const [row] = await session.rows<EffectRow>(
    `SELECT id, order_ids, attempts ${dueEffects}
       ${failed.length > 0 ? 'AND id NOT IN (?)' : ''}
     ORDER BY attempts, created_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
    [kind, expandAttemptsMax, ...(failed.length > 0 ? [failed] : [])],
  );
  if (row === undefined) return false;
  try {
    await expand(session, unpackIds(row.order_ids));
  } catch (error) {
    if (isSystemFault(error)) throw error;
    throw new ExpandFault(row, error);
  }
  await session.run('DELETE FROM effect WHERE id = ?', [row.id]);
  return true;
}

/** @returns the orders that the effect still has, because they fail even alone or were not come to. */
async function expandInParts(
  database: Database,
  { row, cause }: ExpandFault,
  expand: (session: Session, orderIds: readonly string[]) => Promise<void>,
): Promise<readonly string[]> {
  const orderIds = unpackIds(row.order_ids);
  if (orderIds.length <= 1 || !isRowFault(cause)) return orderIds;
  const { failures, untried } = await bisect(orderIds, (part) =>
    inTransaction(
      database,
      (session) => expand(session, part),
      () => null,
    ),
  );
  return [...failures.map(({ id }) => id), ...untried];
}

function isSystemFault(error: unknown): boolean {
  const stored = toStoreError(error);
  return isUnavailable(stored) || stored instanceof CommitUnknownError;
}

async function noteFault(
  database: Database,
  log: RepositoryLog,
  kind: string,
  { row, cause }: ExpandFault,
  left: readonly string[],
): Promise<void> {
  const attempts = row.attempts + 1;
  await withRetriedSession(database, (session) =>
    left.length === 0
      ? session.run('DELETE FROM effect WHERE id = ?', [row.id])
      : session.run('UPDATE effect SET attempts = ?, order_ids = ? WHERE id = ?', [
          attempts,
          packIds(left),
          row.id,
        ]),
  );
  if (left.length === 0) return;
  const orderIds = left.slice(0, idsPerLineMax);
  const fields = { effect: idFromBytes(row.id), kind, attempts, orders: left.length, orderIds, err: cause };
  if (fields.attempts < expandAttemptsMax) log.warn(fields, 'an effect could not be expanded; trying again');
  else log.error(fields, 'an effect cannot be expanded and stays in the table "effect"');
}
