import { attemptIsOpen } from './attempt-row.ts';
import { idFromBytes, idToBytes } from './binary-id.ts';
import { settleOpenAttempts } from './capture-attempt.ts';
import { closeLocked, type DueRow, dueColumns } from './close-batch.ts';
import type { Database } from './database.ts';
import { InvariantError } from './errors.ts';
import type { CancelResult } from './order-repository.ts';
import { type OrderRow, orderColumns, toOrder } from './order-row.ts';
import { readArchivedOrder } from './read-archived-order.ts';
import type { Session } from './session.ts';
import { inTransaction, type Witness } from './transaction.ts';
import { userToBytes } from './user-bytes.ts';

interface Cancelled {
  readonly result: CancelResult;
  readonly witness: Witness | null;
}

/** A buyer cancels an order of their own; an operator cancels any. */
export interface Canceller {
  readonly cause: 'buyer' | 'operator';
  readonly actor: Buffer;
}

/**
 * Cancel the buyer's own pending order, and give its places back in the same transaction. Waits for a close
 * or a payment that has the order, and loses to it. Another buyer's order is not found, so that ids cannot
 * be probed. An order that is being paid is not cancelled over its provider's head: the attempt is settled at once
 * instead of at the deadline, and the answer is `paying` until the provider has said that no money comes; the repeat
 * then cancels, or finds the order paid. Repeated, it answers `not_pending` with the order as it is, also from the archive.
 */
export async function cancelOrder(database: Database, id: string, userId: string): Promise<CancelResult> {
  const canceller = { cause: 'buyer', actor: userToBytes(userId) } as const;
  const { result } = await inTransaction<Cancelled>(
    database,
    (session) => cancelOnce(session, idToBytes(id), canceller),
    ({ witness }) => witness,
    { afterLockWait: 'fail' },
  );
  return result;
}

/** One cancel within a transaction of the caller: what `cancelOrder` says holds for an operator's too. */
export async function cancelOnce(session: Session, id: Buffer, canceller: Canceller): Promise<Cancelled> {
  const { cause, actor } = canceller;
  const [row] = await session.rows<DueRow & Pick<OrderRow, 'user_id' | 'status'>>(
    `SELECT ${dueColumns}, user_id, status FROM orders WHERE id = ? FOR UPDATE`,
    [id],
  );
  if (row === undefined) {
    const order = await readArchivedOrder(session, id);
    const isTheirs = order && (cause === 'operator' || userToBytes(order.userId).equals(actor));
    return { result: isTheirs ? { kind: 'not_pending', order } : { kind: 'not_found' }, witness: null };
  }
  if (cause === 'buyer' && !row.user_id.equals(actor)) {
    return { result: { kind: 'not_found' }, witness: null };
  }
  if (row.status !== 'PENDING') {
    return { result: { kind: 'not_pending', order: await reread(session, id) }, witness: null };
  }
  if (await settleAttempt(session, id)) return { result: { kind: 'paying' }, witness: null };
  const { effects, witness } = await closeLocked(session, [row], {
    toStatus: 'CANCELLED',
    cause,
    actor,
  });
  const [effect] = effects;
  if (effect === undefined) throw new InvariantError('a cancelled order released nothing');
  return { result: { kind: 'cancelled', order: await reread(session, id), effect }, witness };
}

/** @returns whether the order has an open attempt; it is to be settled from now on. */
async function settleAttempt(session: Session, orderId: Buffer): Promise<boolean> {
  const open = await session.rows<{ id: Buffer }>(
    `SELECT id FROM payment_attempt WHERE order_id = ? AND ${attemptIsOpen}`,
    [orderId],
  );
  if (open.length === 0) return false;
  await settleOpenAttempts(session, idFromBytes(orderId));
  return true;
}

async function reread(session: Session, id: Buffer) {
  const [row] = await session.rows<OrderRow>(`SELECT ${orderColumns} FROM orders WHERE id = ?`, [id]);
  if (row === undefined) throw new InvariantError('a locked order is not there');
  return toOrder(row);
}
