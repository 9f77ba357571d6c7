import { idBytes, idFromBytes, packIds, unpackIds } from './binary-id.ts';
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

/** Effects of one transaction, while their orders are no more than a closing batch may have. A lone one may be larger. */
const effectsTogetherMax = 200;
const ordersTogetherMax = 2_000;
/** After so many orders a call ends, so that what it has made is seen to first. */
const ordersPerCallMax = 20_000;

/** Orders named in a log line. */
const idsPerLineMax = 20;

/** Effects whose transaction was rolled back by what `expand` threw. */
class ExpandFault extends Error {
  readonly rows: readonly EffectRow[];
  constructor(rows: readonly EffectRow[], cause: unknown) {
    super('effects could not be expanded', { cause });
    this.rows = rows;
  }
}

/**
 * Turn effects of one kind into rows of their own, several in a transaction that deletes them: so each is
 * done once, however many callers there are. Where several fail together each is tried alone. One that fails is passed over, tried again later, and left in
 * the table after `expandAttemptsMax`: it never keeps the others waiting. Nor does one order keep those of its own
 * effect waiting: where MySQL refuses a row, the others are expanded without it, and the effect keeps what was refused.
 * So `expand` must be safe to repeat.
 * @returns how many were done, at most `limit`; 0: none is left that is free.
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
  let together = effectsTogetherMax;
  let done = 0;
  let orders = 0;
  while (done + failed.length < limit && orders < ordersPerCallMax) {
    const max = Math.min(together, limit - done - failed.length);
    try {
      // A commit that is not known: the effects are either done, or found again by the next call.
      const expanded = await inTransaction(
        database,
        (session) => expandNext(session, { kind, failed, max }, expand),
        () => null,
      );
      if (expanded.effects === 0) break;
      // They are large: no more of them are read and locked than go together.
      if (expanded.isFull) together = expanded.effects;
      done += expanded.effects;
      orders += expanded.orders;
    } catch (error) {
      if (!(error instanceof ExpandFault)) throw error;
      const [row, second] = error.rows;
      if (row === undefined || second !== undefined) {
        together = 1;
        continue;
      }
      failed.push(row.id);
      orders += row.order_ids.length / idBytes;
      const left = await expandInParts(database, row, error.cause, expand);
      await noteFault(database, log, { kind, row, left, cause: error.cause });
    }
  }
  return done;
}

const dueEffects = `FROM effect
  WHERE kind = ? AND attempts < ? AND created_at <= NOW(3) - INTERVAL attempts * attempts SECOND`;

interface Expanded {
  readonly effects: number;
  readonly orders: number;
  /** There were more, whose orders did not go together with these. */
  readonly isFull: boolean;
}

async function expandNext(
  session: Session,
  { kind, failed, max }: { kind: string; failed: readonly Buffer[]; max: number },
  expand: (session: Session, orderIds: readonly string[]) => Promise<void>,
): Promise<Expanded> {
  const found = await session.rows<EffectRow>(
    `SELECT id, order_ids, attempts ${dueEffects}
       ${failed.length > 0 ? 'AND id NOT IN (?)' : ''}
     ORDER BY attempts, created_at LIMIT ? FOR UPDATE SKIP LOCKED`,
    [kind, expandAttemptsMax, ...(failed.length > 0 ? [failed] : []), max],
  );
  const rows = withinOrders(found);
  if (rows.length === 0) return { effects: 0, orders: 0, isFull: false };
  const orderIds = rows.flatMap((row) => unpackIds(row.order_ids));
  try {
    await expand(session, orderIds);
  } catch (error) {
    if (isSystemFault(error)) throw error;
    throw new ExpandFault(rows, error);
  }
  await session.run('DELETE FROM effect WHERE id IN (?)', [rows.map(({ id }) => id)]);
  return { effects: rows.length, orders: orderIds.length, isFull: rows.length < found.length };
}

/** The first of these effects, as long as their orders may go together; one at least. */
function withinOrders(rows: readonly EffectRow[]): readonly EffectRow[] {
  let orders = 0;
  const end = rows.findIndex(({ order_ids }, index) => {
    orders += order_ids.length / idBytes;
    return index > 0 && orders > ordersTogetherMax;
  });
  return end === -1 ? rows : rows.slice(0, end);
}

/** @returns the orders that the effect still has, because they fail even alone or were not come to. */
async function expandInParts(
  database: Database,
  row: EffectRow,
  cause: unknown,
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
  { kind, row, left, cause }: { kind: string; row: EffectRow; left: readonly string[]; cause: unknown },
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
