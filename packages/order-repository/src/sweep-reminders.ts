import type { TimeoutOrder } from '@lapse/contracts';
import type { RemindResult } from './batch-result.ts';
import { idFromBytes, idToBytes } from './binary-id.ts';
import { noneUnmoved } from './classify-unmoved.ts';
import { idsPerCallMax } from './close-expired.ts';
import type { Database } from './database.ts';
import { CommitUnknownError, isUnavailable } from './errors.ts';
import type { RepositoryLog } from './order-repository.ts';
import { remindPending } from './remind-pending.ts';
import type { ReminderCursor, ReminderSweep, ReminderSweepOptions } from './reminder-sweep.ts';
import { withRetriedSession } from './transaction.ts';

/** A row's body is up to a batch of orders, so this bounds the memory of one call. */
const rowsPerCallMax = 50;
/** Orders reminded in one transaction, which becomes one closing message row. */
const ordersPerPartMax = 500;

interface OutboxRow {
  readonly id: Buffer;
  readonly body: string;
  readonly due_at: Date;
}

/** What is still to be done about the orders of this call. */
interface Leftovers {
  /** Locked by others just now. */
  readonly contended: ReadonlySet<string>;
  /** Their reminder has not come: an operator moved it, or they share a row with earlier ones. In ms from now. */
  readonly dueInMs: ReadonlyMap<string, number>;
}

/**
 * Remind what no message reminded: the broker lost it, or is away. Each phase 1 outbox row is looked at once,
 * when the first of its orders is due and the grace is over: one plain read tells which orders are still
 * unreminded, almost always none. A row is done (`swept_at`) when none of its orders can come to need it any
 * more; one with later orders moves its `due_at` to the next of them.
 *
 * Orders that fail, though MySQL is there, keep nobody from the rest: they are logged, and the next run looks at their
 * rows again.
 *
 * Reminding is `remindPending`, so a reminder stays at most once whoever else reminds at the same time, and an
 * order that is no longer pending gets none. Any number of sweepers may run at once.
 */
export async function sweepReminders(
  database: Database,
  log: RepositoryLog,
  { graceMs, after }: ReminderSweepOptions,
): Promise<ReminderSweep> {
  const rows = await selectDue(database, graceMs, after);
  const idsByRow = new Map(rows.map((row) => [row, orderIdsOf(row)]));
  const open = await selectUnreminded(database, [...new Set([...idsByRow.values()].flat())]);
  const contended = new Set<string>();
  const dueInMs = new Map<string, number>();
  const parked: string[] = [];
  let reminded = 0;
  for (let at = 0; at < open.length; at += ordersPerPartMax) {
    const part = open.slice(at, at + ordersPerPartMax);
    const result = await remindPart(database, log, part);
    reminded += result.reminded.length;
    parked.push(...result.parked);
    for (const id of result.contended) contended.add(id);
    for (const order of result.notDue) dueInMs.set(order.orderId, order.dueInMs);
  }
  await settleRows(database, idsByRow, { contended, dueInMs });
  const last = rows.at(-1);
  const isLast = last === undefined || rows.length < rowsPerCallMax;
  return { reminded, parked, next: isLast ? null : { dueAt: last.due_at, id: idFromBytes(last.id) } };
}

async function remindPart(
  database: Database,
  log: RepositoryLog,
  ids: readonly string[],
): Promise<RemindResult> {
  try {
    return await remindPending(database, log, ids);
  } catch (error) {
    if (isUnavailable(error) || error instanceof CommitUnknownError) throw error;
    log.error({ err: error, orders: ids.length }, 'orders could not be reminded: the next sweep tries again');
    return { ...noneUnmoved, contended: ids, reminded: [], outbox: null };
  }
}

function orderIdsOf({ body }: OutboxRow): string[] {
  return (JSON.parse(body) as TimeoutOrder[]).map(({ orderId }) => orderId);
}

/** One range of an index, in which rows that are done are not. */
function selectDue(database: Database, graceMs: number, after: ReminderCursor | null): Promise<OutboxRow[]> {
  return withRetriedSession(database, (session) =>
    session.rows<OutboxRow>(
      `SELECT id, body, due_at FROM message_outbox FORCE INDEX (message_outbox_due)
       WHERE phase = 1 AND swept_at IS NULL AND due_at <= NOW(3) - INTERVAL ? MICROSECOND
       ${after === null ? '' : 'AND (due_at > ? OR (due_at = ? AND id > ?))'}
       ORDER BY due_at, id LIMIT ?`,
      [
        graceMs * 1_000,
        ...(after === null ? [] : [after.dueAt, after.dueAt, idToBytes(after.id)]),
        rowsPerCallMax,
      ],
    ),
  );
}

async function selectUnreminded(database: Database, ids: readonly string[]): Promise<string[]> {
  const open: string[] = [];
  for (let at = 0; at < ids.length; at += idsPerCallMax) {
    const part = ids.slice(at, at + idsPerCallMax).map(idToBytes);
    const rows = await withRetriedSession(database, (session) =>
      session.rows<{ id: Buffer }>(
        `SELECT id FROM orders FORCE INDEX (PRIMARY)
         WHERE id IN (?) AND status = 'PENDING' AND reminded_at IS NULL`,
        [part],
      ),
    );
    open.push(...rows.map(({ id }) => idFromBytes(id)));
  }
  return open;
}

async function settleRows(
  database: Database,
  idsByRow: ReadonlyMap<OutboxRow, readonly string[]>,
  { contended, dueInMs }: Leftovers,
): Promise<void> {
  const done: Buffer[] = [];
  await withRetriedSession(database, async (session) => {
    done.length = 0;
    for (const [{ id }, orderIds] of idsByRow) {
      // Locked orders: the row stays as it is and is looked at again in the next run.
      if (orderIds.some((orderId) => contended.has(orderId))) continue;
      const waits = orderIds.flatMap((orderId) => dueInMs.get(orderId) ?? []);
      if (waits.length === 0) done.push(id);
      else {
        await session.run(
          'UPDATE message_outbox SET due_at = NOW(3) + INTERVAL ? MICROSECOND WHERE id = ? AND swept_at IS NULL',
          [Math.min(...waits) * 1_000, id],
        );
      }
    }
    if (done.length === 0) return;
    await session.run('UPDATE message_outbox SET swept_at = NOW(3) WHERE id IN (?) AND swept_at IS NULL', [
      done,
    ]);
  });
}
