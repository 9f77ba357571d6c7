import { backOffMs, sleep } from '@lapse/runtime';
import type { Database } from './database.ts';
import { CommitUnknownError } from './errors.ts';
import { isConnectionLost, isContention, isLockWaitTimeout, toStoreError } from './mysql-fault.ts';
import type { Session } from './session.ts';

/** Tries of one transaction that meets deadlocks, lock waits or a lost connection, within the budget. */
const attemptsMax = 6;
const retryBudgetMs = 8_000;
const retryBackOff = { minMs: 2, maxMs: 100 };
const lookupAttemptsMax = 3;
const lookupBackOff = { minMs: 50, maxMs: 500 };

/**
 * What follows a lock that was waited for in vain. `again`: the whole once more, within the budget; for batches, whose
 * other rows must not pay for one. `fail`: for a call about one order, which would hold its connection three times as
 * long, and whose caller comes back by itself.
 */
type AfterLockWait = 'again' | 'fail';

/** A query that finds rows if, and only if, the transaction was committed. */
export interface Witness {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** COMMIT was lost, and MySQL says that it was not done: the whole transaction may run again. */
class CommitLostError extends Error {}

/**
 * Run `body` in one transaction at READ COMMITTED, and commit. The whole of it runs again, a few times with
 * jitter, after a deadlock, a lock wait or a lost connection: `body` must keep nothing from an earlier run.
 *
 * A connection lost at COMMIT leaves the outcome open. `witness` then asks on a new connection with a
 * locking read, which waits while the old transaction is still alive on the server: so "no rows" means
 * rolled back, for ever, not "not yet".
 * @param witness null when `body` wrote nothing that matters.
 * @throws CommitUnknownError when that question stays unanswered too.
 * @throws StoreUnavailableError when MySQL is away or the rows stay locked; nothing is committed then.
 */
export function inTransaction<T>(
  database: Database,
  body: (session: Session) => Promise<T>,
  witness: (result: T) => Witness | null,
  { afterLockWait = 'again' }: { readonly afterLockWait?: AfterLockWait } = {},
): Promise<T> {
  return withRetries(afterLockWait, async () => {
    const { result, doubt } = await database.withSession((session, destroy) =>
      tryOnce(session, destroy, body),
    );
    // Settled with the connection handed back, so that a pool of one can still ask.
    return doubt === undefined ? result : settleCommit(database, result, witness(result), doubt);
  });
}

/** @returns the body's result, with the error of COMMIT as `doubt` when that failed. */
async function tryOnce<T>(
  session: Session,
  destroy: () => void,
  body: (session: Session) => Promise<T>,
): Promise<{ result: T; doubt?: unknown }> {
  let result: T;
  try {
    await session.run('START TRANSACTION');
    result = await body(session);
  } catch (error) {
    await rollBack(session, destroy, error);
    throw error;
  }
  try {
    await session.run('COMMIT');
    return { result };
  } catch (doubt) {
    destroy();
    return { result, doubt };
  }
}

/** Run statements that stand alone, each its own transaction. `use` runs again as a whole: it must be idempotent. */
export function withRetriedSession<T>(database: Database, use: (session: Session) => Promise<T>): Promise<T> {
  return withRetries('again', () => database.withSession(use));
}

async function rollBack(session: Session, destroy: () => void, error: unknown): Promise<void> {
  // A dead connection cannot be asked; the server rolls back when it notices.
  if (isConnectionLost(error)) return destroy();
  try {
    await session.run('ROLLBACK');
  } catch {
    destroy();
  }
}

async function withRetries<T>(afterLockWait: AfterLockWait, attempt: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  let connectionsLost = 0;
  for (let number = 1; ; number += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (isConnectionLost(error)) connectionsLost += 1;
      // A pooled connection may have died idle: a second one tells whether MySQL is away.
      const again =
        (isContention(error) && !(afterLockWait === 'fail' && isLockWaitTimeout(error))) ||
        error instanceof CommitLostError ||
        (isConnectionLost(error) && connectionsLost === 1);
      const spent = number >= attemptsMax || performance.now() - startedAt >= retryBudgetMs;
      if (!again || spent) throw toStoreError(error instanceof CommitLostError ? error.cause : error);
      await sleep(backOffMs(number, retryBackOff));
    }
  }
}

async function settleCommit<T>(
  database: Database,
  result: T,
  witness: Witness | null,
  cause: unknown,
): Promise<T> {
  if (witness === null) return result;
  if (await wasCommitted(database, witness, cause)) return result;
  throw new CommitLostError('COMMIT was not done', { cause });
}

async function wasCommitted(database: Database, { sql, values }: Witness, cause: unknown): Promise<boolean> {
  let failure: unknown = cause;
  for (let number = 1; number <= lookupAttemptsMax; number += 1) {
    try {
      const found = await database.withSession((session) =>
        session.rows(`${sql} LOCK IN SHARE MODE`, values),
      );
      return found.length > 0;
    } catch (error) {
      failure = error;
      if (number < lookupAttemptsMax) await sleep(backOffMs(number, lookupBackOff));
    }
  }
  throw new CommitUnknownError('MySQL was lost at COMMIT', { cause: failure });
}
