import type { BusyActivities } from './busy-activities.ts';
import { classifyConflicts } from './classify-conflicts.ts';
import type { CreateOutcome, CreateResult, NewOrder } from './create-result.ts';
import type { Database } from './database.ts';
import { CommitUnknownError, InvariantError } from './errors.ts';
import { withRetriedSession } from './transaction.ts';
import { type WrittenOrders, writeOrders } from './write-orders.ts';

/** Most orders of one call: 1,000 of the longest make less than 2 MB of SQL, far from a packet's 16. */
const createBatchMax = 1_000;

/**
 * Write new orders, in one transaction as a rule: orders, their first transitions, one outbox row of
 * phase 1, and last one conditional decrement per activity. Every order gets its own answer, and none harms
 * another: repeats, holders, a stale generation and a shortage are told apart one by one.
 *
 * Idempotent per order id and per idempotency key: sent again after any failure, an order that is there is
 * answered with `same_key`. Orders of one batch that exclude each other (one key twice, one buyer twice) are
 * judged in the order of the input, as if they had come one after the other.
 *
 * Strangers travel together: an activity whose row others keep locked refuses its own orders (`activity_locked`), and
 * the rest are written. It is waited for once, 3 s, and several of one batch together; from then on its orders are left
 * out after a look of 50 ms, until it is free.
 * @throws CommitUnknownError when COMMIT was lost and MySQL stayed away: keep the holds.
 * @throws StoreUnavailableError when nothing was committed.
 */
export async function createOrders(
  database: Database,
  busy: BusyActivities,
  orders: readonly NewOrder[],
): Promise<CreateOutcome> {
  if (orders.length > createBatchMax) {
    throw new RangeError(`${orders.length} orders in one call; at most ${createBatchMax}`);
  }
  const results = new Map<NewOrder, CreateResult>();
  let outbox: CreateOutcome['outbox'] = null;
  let waiting = orders;
  try {
    while (waiting.length > 0) {
      const wave = withoutRivals(waiting);
      const written = await busy.avoid(database, (locked) => writeUnlocked(database, wave, locked));
      for (const [order, result] of written.results) results.set(order, result);
      // A second wave that sells is rare: its row is left to the sweeper.
      outbox ??= written.outbox;
      const rivals = waiting.filter((order) => !results.has(order));
      const known = await explain(database, rivals);
      for (const [order, result] of known) results.set(order, result);
      waiting = rivals.filter((order) => !results.has(order));
    }
  } catch (error) {
    if (outbox === null) throw error;
    throw new CommitUnknownError('a part of the batch was committed before MySQL failed', { cause: error });
  }
  return { results: orders.map((order) => resultOf(results, order)), outbox };
}

async function writeUnlocked(
  database: Database,
  orders: readonly NewOrder[],
  locked: readonly number[],
): Promise<WrittenOrders> {
  if (locked.length === 0) return writeOrders(database, orders);
  const isLocked = ({ activityId }: NewOrder): boolean => locked.includes(activityId);
  const free = orders.filter((order) => !isLocked(order));
  const { results, outbox } =
    free.length > 0 ? await writeOrders(database, free) : { results: [], outbox: null };
  const refused = orders.filter(isLocked).map((order) => [order, { kind: 'activity_locked' }] as const);
  return { results: new Map([...results, ...refused]), outbox };
}

/** The first of each set of orders that cannot all be: same id, same key, or same buyer in one activity. */
function withoutRivals(orders: readonly NewOrder[]): NewOrder[] {
  const seen = new Set<string>();
  return orders.filter((order) => {
    const names = [
      `id ${order.id}`,
      `key ${order.idempotencyKey} ${order.userId}`,
      `buyer ${order.activityId} ${order.userId}`,
    ];
    if (names.some((name) => seen.has(name))) return false;
    for (const name of names) seen.add(name);
    return true;
  });
}

/** What the first wave already answers: fifty clicks with one key cost one transaction and one look. */
async function explain(
  database: Database,
  rivals: readonly NewOrder[],
): Promise<ReadonlyMap<NewOrder, CreateResult>> {
  if (rivals.length === 0) return new Map();
  return withRetriedSession(database, (session) => classifyConflicts(session, rivals));
}

function resultOf(results: ReadonlyMap<NewOrder, CreateResult>, order: NewOrder): CreateResult {
  const result = results.get(order);
  if (result === undefined) throw new InvariantError(`order ${order.id} was given no answer`);
  return result;
}
