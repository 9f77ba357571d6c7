import type { Database } from './database.ts';
import { movedLongAgo } from './payment-is-old.ts';
import type { ForgetOptions, ForgottenRows } from './retention.ts';
import type { Session } from './session.ts';
import { inTransaction, withRetriedSession } from './transaction.ts';

/** Outbox rows are kept for so much longer than orders: the archive shall have the messages of its orders. */
const messagesKeptLongerMs = 86_400_000;

/**
 * Delete one batch of rows that have done their work, table by table, each by itself: a repeat deletes what is left.
 * Several sweepers may do it at once.
 *
 * Outbox rows that are not sent stay, and those of reminders until the sweep knows each of their orders reminded or
 * ended. What is set aside stays until a person has settled it, a finding until it is healed. What operators did by hand
 * is kept for as long as its own policy says.
 */
export async function forgetFinished(
  database: Database,
  { olderThanMs, archiveOlderThanMs, actionsOlderThanMs, limit }: ForgetOptions,
): Promise<ForgottenRows> {
  const rows = await withRetriedSession(database, async (session) => ({
    ...(olderThanMs === null
      ? { messages: 0, parked: 0, findings: 0 }
      : {
          messages: await forgetMessages(session, olderThanMs + messagesKeptLongerMs, limit),
          parked: await forget(session, parkedIsSettled, olderThanMs, limit),
          findings: await forget(session, findingIsHealed, olderThanMs, limit),
        }),
    actions: await forgetActions(session, { olderThanMs, archiveOlderThanMs, actionsOlderThanMs, limit }),
  }));
  // No row may name an order that the archive has let go of: messages go first, whatever the archive's policy says.
  const keptMs = Math.max(
    archiveOlderThanMs ?? 0,
    olderThanMs === null ? 0 : olderThanMs + messagesKeptLongerMs,
  );
  const archived =
    archiveOlderThanMs === null
      ? 0
      : await inTransaction(
          database,
          (session) => forgetArchived(session, keptMs, limit),
          // Not known to be done: the next call finds them again, or does not.
          () => null,
        );
  return { ...rows, archived };
}

const parkedIsSettled = `parked WHERE state IN ('REDRIVEN', 'DROPPED')
  AND settled_at <= NOW(3) - INTERVAL ? MICROSECOND ORDER BY id`;
const findingIsHealed = `audit_finding WHERE healed_at <= NOW(3) - INTERVAL ? MICROSECOND ORDER BY at, id`;
/** Two ages are bound. */
const doneByHand = `operator_action WHERE at <= NOW(3) - INTERVAL ? MICROSECOND
  AND (action <> 'payment.dismiss' OR at <= NOW(3) - INTERVAL ? MICROSECOND) ORDER BY at, id`;

/** When a payment was dismissed stands here alone: `forgetPayments` reads it for as long as the payment may be there. */
async function forgetActions(
  session: Session,
  { olderThanMs, archiveOlderThanMs, actionsOlderThanMs, limit }: ForgetOptions,
): Promise<number> {
  if (actionsOlderThanMs === null) return 0;
  const paymentsOlderThanMs = (olderThanMs ?? 0) + (archiveOlderThanMs ?? 0);
  const { affectedRows } = await session.run(`DELETE FROM ${doneByHand} LIMIT ?`, [
    actionsOlderThanMs * 1_000,
    Math.max(actionsOlderThanMs, paymentsOlderThanMs) * 1_000,
    limit,
  ]);
  return affectedRows;
}

/**
 * With their payments whose money last moved as long ago: what is younger, open or dismissed stays as a payment of nobody,
 * so that the provider's repeat of it is still a duplicate. What an order kept came before the order was archived. What
 * the shop was told since goes as well; an order of which it is still to be told something stays.
 */
async function forgetArchived(session: Session, olderThanMs: number, limit: number): Promise<number> {
  const rows = await session.rows<{ order_id: Buffer }>(
    `SELECT order_id FROM order_archive a WHERE archived_at <= NOW(3) - INTERVAL ? MICROSECOND
       AND NOT EXISTS (SELECT 1 FROM shop_event e WHERE e.order_id = a.order_id AND e.state <> 'SENT')
     ORDER BY archived_at, order_id LIMIT ? FOR UPDATE SKIP LOCKED`,
    [olderThanMs * 1_000, limit],
  );
  if (rows.length === 0) return 0;
  const ids = rows.map(({ order_id }) => order_id);
  await session.run(
    `DELETE FROM payment WHERE order_id IN (?)
       AND (state = 'CAPTURED' OR state IN ('REFUNDED', 'FAILED') AND ${movedLongAgo})`,
    [ids, olderThanMs * 1_000],
  );
  await session.run("DELETE FROM shop_event WHERE order_id IN (?) AND state = 'SENT'", [ids]);
  await session.run('DELETE FROM order_archive WHERE order_id IN (?)', [ids]);
  return ids.length;
}

async function forget(session: Session, what: string, olderThanMs: number, limit: number): Promise<number> {
  const { affectedRows } = await session.run(`DELETE FROM ${what} LIMIT ?`, [olderThanMs * 1_000, limit]);
  return affectedRows;
}

/** Two ranges of one index, in both of which only what may go is old: what must stay keeps nobody from the rest. */
async function forgetMessages(session: Session, olderThanMs: number, limit: number): Promise<number> {
  const olderThanUs = olderThanMs * 1_000;
  const old = 'NOW(3) - INTERVAL ? MICROSECOND';
  const reminders = await session.rows<{ id: Buffer }>(
    `SELECT id FROM message_outbox FORCE INDEX (message_outbox_due)
     WHERE phase = 1 AND swept_at <= ${old} AND sent_at <= ${old} ORDER BY swept_at LIMIT ?`,
    [olderThanUs, olderThanUs, limit],
  );
  const closes = await session.rows<{ id: Buffer }>(
    `SELECT id FROM message_outbox FORCE INDEX (message_outbox_due)
     WHERE phase = 2 AND swept_at IS NULL AND due_at <= ${old} AND sent_at <= ${old} ORDER BY due_at LIMIT ?`,
    [olderThanUs, olderThanUs, limit],
  );
  const ids = [...reminders, ...closes].slice(0, limit).map(({ id }) => id);
  if (ids.length === 0) return 0;
  const { affectedRows } = await session.run('DELETE FROM message_outbox WHERE id IN (?)', [ids]);
  return affectedRows;
}
