import type { TimeoutOrder } from '@lapse/contracts';
import type { RemindedOrder, RemindResult, UnmovedOrders } from './batch-result.ts';
import { idFromBytes, idList, idToBytes, newId, sortedIds } from './binary-id.ts';
import { bisect } from './bisect.ts';
import { classifyUnmoved, type DueRule, mergeUnmoved, noneUnmoved, without } from './classify-unmoved.ts';
import { idsPerCallMax } from './close-expired.ts';
import type { Database } from './database.ts';
import { InvariantError } from './errors.ts';
import { insertOutboxRow } from './insert-outbox-row.ts';
import { insertShopEvents } from './insert-shop-events.ts';
import type { RepositoryLog } from './order-repository.ts';
import { parkOrders } from './park-orders.ts';
import { readParkedIds } from './read-parked-ids.ts';
import type { Session } from './session.ts';
import { inTransaction } from './transaction.ts';
import { userFromBytes } from './user-bytes.ts';

interface ReminderRow {
  readonly id: Buffer;
  readonly activity_id: number;
  readonly user_id: Buffer;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly late_us: number;
  readonly at: Date;
}

type Part = Pick<RemindResult, 'reminded' | 'outbox'> & { readonly unmoved: UnmovedOrders };

const remindRule: DueRule = {
  dueColumn: 'remind_at',
  isSettled: ({ status, reminded_at }) => status !== 'PENDING' || reminded_at !== null,
};

/**
 * Claim the reminder of orders that are pending and whose reminder time has come by the database clock, in
 * one transaction: reminded_at, the notice to deliver (not where the deadline has passed too), and one
 * outbox row that brings phase 2. All of it or nothing, so the phase 1 message may be acknowledged.
 *
 * At most once per order, at any concurrency: a second call finds it `settled`. Locked rows are skipped and
 * `contended`. A failing order is bisected out and parked; the outbox rows of the parts beyond the first
 * are then left to the sweeper. Where many fail, a part may be left for the next call, `contended` too.
 */
export async function remindPending(
  database: Database,
  log: RepositoryLog,
  ids: readonly string[],
): Promise<RemindResult> {
  if (ids.length > idsPerCallMax)
    throw new RangeError(`${ids.length} ids in one call; at most ${idsPerCallMax}`);
  const sorted = sortedIds(ids);
  if (sorted.length === 0) return { ...mergeUnmoved([], []), reminded: [], outbox: null };
  const { results, failures, untried } = await bisect(sorted, (part) =>
    inTransaction<Part>(
      database,
      (session) => remindPart(session, part),
      ({ outbox }) =>
        outbox && { sql: 'SELECT 1 FROM message_outbox WHERE id = ?', values: [idToBytes(outbox.id)] },
    ),
  );
  const reminded = results.flatMap((part) => part.reminded);
  const { parked, doubtful } = await parkOrders(database, log, 1, failures, {
    othersMoved: reminded.length > 0,
    allTried: untried.length === 0,
  });
  return {
    ...mergeUnmoved(
      [...results.map(({ unmoved }) => unmoved), { ...noneUnmoved, contended: [...doubtful, ...untried] }],
      parked,
    ),
    reminded,
    outbox: results.find(({ outbox }) => outbox !== null)?.outbox ?? null,
  };
}

async function remindPart(session: Session, ids: readonly string[]): Promise<Part> {
  const parkedIds = await readParkedIds(session, 1);
  const parked = parkedIds.size === 0 ? [] : ids.filter((id) => parkedIds.has(id));
  const wanted = parked.length === 0 ? ids : ids.filter((id) => !parkedIds.has(id));
  if (wanted.length === 0) return { reminded: [], outbox: null, unmoved: mergeUnmoved([], parked) };
  const rows = await session.rows<ReminderRow>(
    `SELECT id, activity_id, user_id, created_at, expires_at,
       TIMESTAMPDIFF(MICROSECOND, remind_at, NOW(3)) AS late_us, NOW(3) AS at
     FROM orders FORCE INDEX (PRIMARY)
     WHERE id IN (?) AND status = 'PENDING' AND reminded_at IS NULL AND remind_at <= NOW(3)
     ORDER BY id FOR UPDATE SKIP LOCKED`,
    [idList(wanted)],
  );
  const unmoved = await classifyUnmoved(session, without(wanted, rows), remindRule);
  return { ...(await remindLocked(session, rows)), unmoved: mergeUnmoved([unmoved], parked) };
}

async function remindLocked(session: Session, rows: readonly ReminderRow[]): Promise<Omit<Part, 'unmoved'>> {
  const [first] = rows;
  if (first === undefined) return { reminded: [], outbox: null };
  const { at } = first;
  const outboxId = newId();
  const { affectedRows } = await session.run(
    `UPDATE orders FORCE INDEX (PRIMARY) SET reminded_at = ?, close_outbox_id = ?
     WHERE id IN (?) AND status = 'PENDING' AND reminded_at IS NULL`,
    [at, idToBytes(outboxId), rows.map(({ id }) => id)],
  );
  if (affectedRows !== rows.length) {
    throw new InvariantError(`${affectedRows} of ${rows.length} locked orders were still to be reminded`);
  }
  const inTime = rows.filter(({ expires_at }) => expires_at > at);
  if (inTime.length > 0) {
    await session.run(
      `INSERT INTO notification (order_id, stage, next_attempt_at, created_at) VALUES ?
       ON DUPLICATE KEY UPDATE id = notification.id`,
      [inTime.map(({ id }) => [id, 'REMINDER', at, at])],
    );
    await insertShopEvents(
      session,
      'reminded',
      inTime.map(({ id }) => idFromBytes(id)),
    );
  }
  const outbox = await insertOutboxRow(session, outboxId, 2, rows.map(toTimeoutOrder));
  return { reminded: rows.map(toRemindedOrder), outbox };
}

function toTimeoutOrder(row: ReminderRow): TimeoutOrder {
  return {
    orderId: idFromBytes(row.id),
    activityId: row.activity_id,
    userId: userFromBytes(row.user_id),
    createTime: row.created_at.getTime(),
    dueTime: row.expires_at.getTime(),
  };
}

function toRemindedOrder(row: ReminderRow): RemindedOrder {
  return {
    orderId: idFromBytes(row.id),
    activityId: row.activity_id,
    userId: userFromBytes(row.user_id),
    expiresAt: row.expires_at.getTime(),
    latenessMs: row.late_us / 1_000,
  };
}
