import { idFromBytes } from './binary-id.ts';
import type { Database } from './database.ts';
import { isRowFault } from './mysql-fault.ts';
import type { ExpiredKeys, RepositoryLog } from './order-repository.ts';
import type { Session } from './session.ts';
import { inTransaction, withRetriedSession } from './transaction.ts';

/** How long a repeat is sure to get the first answer. */
const idempotencyKeptMs = 86_400_000;
/** Name of the place in `job_place`. */
const job = 'expire-keys';
const startOfIds = Buffer.alloc(16);

interface OldRow {
  readonly id: Buffer;
  readonly has_key: number;
  readonly is_old: number;
}

/**
 * Let go of one batch of idempotency keys that are older than 24 hours: the orders' own, and the kept answers of
 * operators' writes. A key is kept longer when nobody runs this, never shorter: `created_at` and the database
 * clock decide.
 *
 * Orders are walked once, by their primary key: ids sort by time. The place is kept in MySQL, moved in the
 * transaction that clears the keys before it, so that no restart reads the past again. It never moves past an
 * order that is too young: an id made by a clock that is slow stops the walk for as long as that clock is slow,
 * at most a day. The place's lock lets one sweeper walk at a time; another one waits for it, then goes on. An order
 * that MySQL refuses to change keeps its key, is logged, and does not stop the walk.
 */
export async function expireKeys(
  database: Database,
  log: RepositoryLog,
  { limit }: { limit: number },
): Promise<ExpiredKeys> {
  const walked = await walk(database, log, limit);
  const { affectedRows: answers } = await withRetriedSession(database, (session) =>
    session.run(
      `DELETE FROM idempotency_key WHERE created_at <= NOW(3) - INTERVAL ? MICROSECOND
       ORDER BY created_at LIMIT ?`,
      [idempotencyKeptMs * 1_000, limit],
    ),
  );
  return { orders: walked.orders, answers, drained: walked.drained && answers < limit };
}

/** The last order that the walk has passed: those up to it have no key any more. Sorts before all where nobody walked. */
export async function expiredKeysPlace(session: Session): Promise<Buffer> {
  const [at] = await session.rows<{ place: Buffer }>('SELECT place FROM job_place WHERE job = ?', [job]);
  return at?.place ?? startOfIds;
}

interface Walked {
  readonly orders: number;
  readonly drained: boolean;
  /** The orders that the place moved past. */
  readonly passed: readonly Buffer[];
}

/** Ever shorter steps up to the order that is refused, and then one past it. */
async function walk(database: Database, log: RepositoryLog, limit: number): Promise<Walked> {
  const step = (clears: boolean): Promise<Walked> =>
    inTransaction(
      database,
      (session) => walkOnce(session, limit, clears),
      // Walked again, the same rows are found without a key: a repeat does nothing.
      () => null,
    );
  try {
    return await step(true);
  } catch (error) {
    if (!isRowFault(error)) throw error;
    if (limit > 1) return walk(database, log, Math.ceil(limit / 2));
    const walked = await step(false);
    log.error({ orderIds: walked.passed.map(idFromBytes), err: error }, 'an order keeps its idempotency key');
    return walked;
  }
}

async function walkOnce(session: Session, limit: number, clears: boolean): Promise<Walked> {
  await session.run('INSERT IGNORE INTO job_place (job, place) VALUES (?, ?)', [job, startOfIds]);
  const [at] = await session.rows<{ place: Buffer }>('SELECT place FROM job_place WHERE job = ? FOR UPDATE', [
    job,
  ]);
  const rows = await session.rows<OldRow>(
    `SELECT id, idempotency_key IS NOT NULL AS has_key,
       created_at <= NOW(3) - INTERVAL ? MICROSECOND AS is_old
     FROM orders FORCE INDEX (PRIMARY) WHERE id > ? ORDER BY id LIMIT ?`,
    [idempotencyKeptMs * 1_000, at?.place ?? startOfIds, limit],
  );
  const youngest = rows.findIndex(({ is_old }) => is_old === 0);
  const old = youngest === -1 ? rows : rows.slice(0, youngest);
  const last = old.at(-1);
  if (last === undefined) return { orders: 0, drained: true, passed: [] };
  const keyed = old.filter(({ has_key }) => has_key === 1).map(({ id }) => id);
  if (clears && keyed.length > 0) {
    await session.run('UPDATE orders FORCE INDEX (PRIMARY) SET idempotency_key = NULL WHERE id IN (?)', [
      keyed,
    ]);
  }
  await session.run('UPDATE job_place SET place = ? WHERE job = ?', [last.id, job]);
  return {
    orders: clears ? keyed.length : 0,
    drained: old.length < limit,
    passed: old.map(({ id }) => id),
  };
}
