import { idFromBytes, unpackIds } from './binary-id.ts';
import type { Database } from './database.ts';
import { CommitUnknownError, isUnavailable } from './errors.ts';
import { toStoreError } from './mysql-fault.ts';
import type { RepositoryLog } from './order-repository.ts';
import type { Session } from './session.ts';
import { inTransaction, withRetriedSession } from './transaction.ts';

/** Tries of one effect. The n-th comes no sooner than n * n seconds after its commit, so all span 6 minutes. */
const expandAttemptsMax = 20;

interface EffectRow {
  readonly id: Buffer;
  readonly order_ids: Buffer;
  readonly attempts: number;
}

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
 * the table after `expandAttemptsMax`: it never keeps the others waiting.
 * @returns how many were done; below `limit`, none is left that is free.
 * @throws StoreUnavailableError, CommitUnknownError: those are no effect's fault.
 */
export async function expandEffects(
  database: Database,
  log: RepositoryLog,
  { kind, limit }: { kind: 'closed_notice' | 'shop_event'; limit: number },
  expand: (session: Session, orderIds: readonly string[]) => Promise<void>,
): Promise<number> {
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
      await noteFault(database, log, kind, error);
    }
  }
  return done;
}

async function expandNext(
  session: Session,
  kind: string,
  failed: readonly Buffer[],
  expand: (session: Session, orderIds: readonly string[]) => Promise<void>,
): Promise<boolean> {
  const [row] = await session.rows<EffectRow>(
    `SELECT id, order_ids, attempts FROM effect
     WHERE kind = ? AND attempts < ? AND created_at <= NOW(3) - INTERVAL attempts * attempts SECOND
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

function isSystemFault(error: unknown): boolean {
  const stored = toStoreError(error);
  return isUnavailable(stored) || stored instanceof CommitUnknownError;
}

async function noteFault(
  database: Database,
  log: RepositoryLog,
  kind: string,
  { row, cause }: ExpandFault,
): Promise<void> {
  await withRetriedSession(database, (session) =>
    session.run('UPDATE effect SET attempts = ? WHERE id = ?', [row.attempts + 1, row.id]),
  );
  const fields = { effect: idFromBytes(row.id), kind, attempts: row.attempts + 1, err: cause };
  if (fields.attempts < expandAttemptsMax) log.warn(fields, 'an effect could not be expanded; trying again');
  else log.error(fields, 'an effect cannot be expanded and stays in the table "effect"');
}
