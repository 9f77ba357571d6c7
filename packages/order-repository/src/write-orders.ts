import type { OutboxRow, TimeoutOrder } from '@lapse/contracts';
import { idFromBytes, idList, idToBytes, newId } from './binary-id.ts';
import { lockPlaces, type PlacesTaken, takePlaces } from './change-places.ts';
import { classifyConflicts } from './classify-conflicts.ts';
import type { CreateResult, NewOrder } from './create-result.ts';
import type { Database } from './database.ts';
import { InvariantError } from './errors.ts';
import { insertOutboxRow } from './insert-outbox-row.ts';
import { insertShopEvents } from './insert-shop-events.ts';
import { orderRows } from './order-rows.ts';
import type { Session } from './session.ts';
import type { SqlLiteral } from './sql-literal.ts';
import { inTransaction } from './transaction.ts';

export interface WrittenOrders {
  readonly results: ReadonlyMap<NewOrder, CreateResult>;
  readonly outbox: OutboxRow | null;
}

/** An activity has too few places, or another generation: judge order by order, in a new transaction. */
class ShortageError extends Error {}

/**
 * Write orders that do not exclude each other, in one transaction. The decrement of the activity, the one
 * row that all buyers share, comes last, so that its lock lasts no longer than the commit.
 * @throws ActivityLockedError naming the activity that others kept locked; nothing was written.
 */
export async function writeOrders(database: Database, orders: readonly NewOrder[]): Promise<WrittenOrders> {
  const write = (admit: Admit) =>
    inTransaction(
      database,
      (session) => writeOnce(session, orders, admit),
      ({ outbox }) =>
        outbox && { sql: 'SELECT 1 FROM message_outbox WHERE id = ?', values: [idToBytes(outbox.id)] },
    );
  try {
    return await write(admitAll);
  } catch (error) {
    if (!(error instanceof ShortageError)) throw error;
    // Rare, since Redis refuses first. Here the activities are locked before their last places are given out.
    return write(admitWhatFits);
  }
}

/** Decides which inserted orders stay; sets the answer of those that do not. */
type Admit = (
  session: Session,
  inserted: readonly NewOrder[],
  results: Map<NewOrder, CreateResult>,
) => Promise<readonly NewOrder[]>;

const admitAll: Admit = async (_session, inserted) => inserted;

async function writeOnce(
  session: Session,
  orders: readonly NewOrder[],
  admit: Admit,
): Promise<WrittenOrders> {
  const results = new Map<NewOrder, CreateResult>();
  const outboxId = newId();
  const inserted = await insertOrders(session, orders, outboxId, results);
  const admitted = await admit(session, inserted, results);
  if (admitted.length === 0) return { results, outbox: null };
  await insertTransitions(session, admitted);
  const outbox = await insertOutboxRow(session, outboxId, 1, admitted.map(toTimeoutOrder));
  await insertShopEvents(
    session,
    'created',
    admitted.map(({ id }) => id),
  );
  await takeAllPlaces(session, admitted);
  for (const order of admitted) results.set(order, { kind: 'created' });
  return { results, outbox };
}

/** @returns the orders that went in; the others get their answer here. */
async function insertOrders(
  session: Session,
  orders: readonly NewOrder[],
  outboxId: string,
  results: Map<NewOrder, CreateResult>,
): Promise<readonly NewOrder[]> {
  const outboxBytes = idToBytes(outboxId);
  // A duplicate changes nothing, but its row is locked: what is read of it below stays true until commit.
  const { affectedRows } = await session.run(
    `INSERT INTO orders (id, activity_id, user_id, quantity, amount_minor, currency, locale, status, version,
       created_at, remind_at, expires_at, idempotency_key, request_hash, reminder_outbox_id)
     VALUES ? ON DUPLICATE KEY UPDATE id = orders.id`,
    [orderRows(orders, outboxBytes)],
  );
  if (affectedRows === orders.length) return orders;

  const rows = await session.rows<{ id: Buffer }>(
    'SELECT id FROM orders WHERE id IN (?) AND reminder_outbox_id = ?',
    [idListOf(orders), outboxBytes],
  );
  const ours = new Set(rows.map(({ id }) => idFromBytes(id)));
  const refused = orders.filter(({ id }) => !ours.has(id));
  const conflicts = await classifyConflicts(session, refused);
  for (const order of refused) {
    const result = conflicts.get(order);
    if (result === undefined)
      throw new InvariantError(`nothing explains why order ${order.id} did not go in`);
    results.set(order, result);
  }
  return orders.filter(({ id }) => ours.has(id));
}

/** Locks the activities and admits, in the order of the input, what they have places for. Deletes the rest. */
const admitWhatFits: Admit = async (session, inserted, results) => {
  if (inserted.length === 0) return inserted;
  const activities = await lockPlaces(session, [...new Set(inserted.map(({ activityId }) => activityId))]);
  const admitted = inserted.filter((order) => {
    const activity = activities.get(order.activityId);
    if (activity?.generation !== order.generation || activity.isArchived === 1) {
      results.set(order, { kind: 'stale_generation' });
      return false;
    }
    if (activity.available < order.quantity) {
      results.set(order, { kind: 'sold_out' });
      return false;
    }
    activity.available -= order.quantity;
    return true;
  });
  const rejected = inserted.filter((order) => results.has(order));
  if (rejected.length > 0) {
    await session.run('DELETE FROM orders WHERE id IN (?)', [idListOf(rejected)]);
  }
  return admitted;
};

async function insertTransitions(session: Session, orders: readonly NewOrder[]): Promise<void> {
  await session.run(
    `INSERT INTO order_transition (order_id, version, activity_id, to_status, cause, at, credit)
     SELECT id, version, activity_id, status, 'create', NOW(3), 0
     FROM orders FORCE INDEX (PRIMARY) WHERE id IN (?)`,
    [idListOf(orders)],
  );
}

function idListOf(orders: readonly NewOrder[]): SqlLiteral {
  return idList(orders.map(({ id }) => id));
}

function toTimeoutOrder(order: NewOrder): TimeoutOrder {
  return {
    orderId: order.id,
    activityId: order.activityId,
    userId: order.userId,
    createTime: order.createdAt.getTime(),
    dueTime: order.remindAt.getTime(),
  };
}

async function takeAllPlaces(session: Session, orders: readonly NewOrder[]): Promise<void> {
  const wanted = new Map<number, PlacesTaken>();
  for (const { activityId, generation, quantity } of orders) {
    const taken = wanted.get(activityId);
    if (taken && taken.generation !== generation) throw new ShortageError(`activity ${activityId}`);
    wanted.set(activityId, { activityId, generation, places: (taken?.places ?? 0) + quantity });
  }
  const taken = await takePlaces(session, [...wanted.values()]);
  if (taken !== wanted.size) throw new ShortageError(`${wanted.size - taken} activities`);
}
