import { type AttemptRow, attemptColumns, attemptIsOpen, toAttempt } from './attempt-row.ts';
import { idToBytes, newId } from './binary-id.ts';
import type { Database } from './database.ts';
import { InvariantError } from './errors.ts';
import { type OrderRow, orderColumns, toOrder } from './order-row.ts';
import type { OpenAttemptResult } from './payment-attempt.ts';
import { readArchivedOrder } from './read-archived-order.ts';
import type { Session } from './session.ts';
import { inTransaction } from './transaction.ts';
import { userToBytes } from './user-bytes.ts';

/** Attempts of one order, ended ones included: a buyer tries a few cards, a broken client tries without end. */
const attemptsPerOrderMax = 50;

interface BuyerAttempt {
  readonly orderId: string;
  readonly userId: string;
  readonly provider: string;
}

/**
 * A buyer begins to pay an own order: write the attempt down before the provider hears of it, so that whatever is
 * lost afterwards, somebody knows to cancel it there. Under the order's lock, so that a close either came before (the
 * order is `not_pending`), or sees that the order is being paid. One attempt is open at a time: the open one is the
 * answer to a second call, whichever process makes it.
 */
export function openAttempt(database: Database, wanted: BuyerAttempt): Promise<OpenAttemptResult> {
  return inTransaction(
    database,
    (session) => openOnce(session, wanted),
    (result) =>
      result.kind === 'open'
        ? { sql: 'SELECT 1 FROM payment_attempt WHERE id = ?', values: [idToBytes(result.attempt.id)] }
        : null,
    { afterLockWait: 'fail' },
  );
}

async function openOnce(
  session: Session,
  { orderId, userId, provider }: BuyerAttempt,
): Promise<OpenAttemptResult> {
  const id = idToBytes(orderId);
  const [row] = await session.rows<OrderRow & { is_late: number }>(
    `SELECT ${orderColumns}, expires_at <= NOW(3) AS is_late FROM orders WHERE id = ? FOR UPDATE`,
    [id],
  );
  if (row === undefined) {
    const order = await readArchivedOrder(session, id);
    return order?.userId === userId ? { kind: 'not_pending', order } : { kind: 'not_found' };
  }
  if (!row.user_id.equals(userToBytes(userId))) return { kind: 'not_found' };
  if (row.status !== 'PENDING' || row.is_late === 1) return { kind: 'not_pending', order: toOrder(row) };
  const attempts = await session.rows<AttemptRow & { is_open: number; is_settling: number }>(
    `SELECT ${attemptColumns}, ${attemptIsOpen} AS is_open, settle_at <= NOW(3) AS is_settling
     FROM payment_attempt
     WHERE order_id = ? ORDER BY is_open DESC LIMIT ?`,
    [id, attemptsPerOrderMax],
  );
  const [first] = attempts;
  if (first?.is_open === 1) {
    if (first.is_settling === 1) return { kind: 'settling' };
    return { kind: 'open', attempt: toAttempt(first), expiresAt: row.expires_at };
  }
  if (attempts.length >= attemptsPerOrderMax) return { kind: 'too_many' };
  return { kind: 'open', attempt: await insertAttempt(session, row, provider), expiresAt: row.expires_at };
}

async function insertAttempt(session: Session, order: OrderRow, provider: string) {
  const id = idToBytes(newId());
  await session.run(
    `INSERT INTO payment_attempt
       (id, order_id, provider, amount_minor, currency, state, created_at, settle_at)
     VALUES (?, ?, ?, ?, ?, 'CREATING', NOW(3), ?)`,
    [id, order.id, provider, order.amount_minor, order.currency, order.expires_at],
  );
  // A plain read: an activity's row is the one that all buyers share, and is not locked for this.
  const [activity] = await session.rows<{ payment_grace_ms: number }>(
    'SELECT payment_grace_ms FROM activity WHERE id = ?',
    [order.activity_id],
  );
  if (activity === undefined) throw new InvariantError(`activity ${order.activity_id} is not there`);
  await session.run('UPDATE orders SET settle_until = expires_at + INTERVAL ? MICROSECOND WHERE id = ?', [
    activity.payment_grace_ms * 1_000,
    order.id,
  ]);
  const [row] = await session.rows<AttemptRow>(`SELECT ${attemptColumns} FROM payment_attempt WHERE id = ?`, [
    id,
  ]);
  if (row === undefined) throw new InvariantError('a new attempt is not there');
  return toAttempt(row);
}
