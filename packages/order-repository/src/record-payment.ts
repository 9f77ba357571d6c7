import { idToBytes, newId } from './binary-id.ts';
import type { BusyActivities } from './busy-activities.ts';
import { captureAttempt, settleOpenAttempts } from './capture-attempt.ts';
import type { Database } from './database.ts';
import { InvariantError } from './errors.ts';
import { insertEffects } from './insert-effects.ts';
import { insertShopEvents } from './insert-shop-events.ts';
import { judgePayment, judgeReturned, type Verdict } from './judge-payment.ts';
import { findKnownPayment, type KnownPayment, quarantineContradiction } from './known-payment.ts';
import type { Order } from './order.ts';
import type { RepositoryLog } from './order-repository.ts';
import { type OrderRow, orderColumns, toOrder } from './order-row.ts';
import type { PaymentEvent, PaymentResult } from './payment.ts';
import { reacquirePlace } from './reacquire-place.ts';
import type { Session } from './session.ts';
import type { StockEffect } from './stock-effect.ts';
import { inTransaction, type Witness } from './transaction.ts';
import { decideWaiting, explainRefund, insertPayment, type PaymentDecision } from './write-payment.ts';

interface Recorded {
  readonly result: PaymentResult;
  /** Why the payment was quarantined by this call. */
  readonly quarantined?: string | null;
}

/**
 * Record a verified payment event, and decide the order by it, in one transaction under the order's lock: so
 * of a payment and a close exactly one wins, and no captured money is without PAID, a refund that is owed,
 * or quarantine. `judgePayment` says what an event means; a capture after the close follows the activity's policy.
 *
 * Idempotent by event id, and by payment id and type: the same again is a `duplicate` and changes no money. The same
 * id with another type, payment, order, amount or currency is not the same: such a capture is quarantined, in a row of
 * its own. A capture whose order is not visible is `kept`, and decided by the next call with it once the order is: a
 * repeat of the provider, or the settler. Each payment that is quarantined is an error in the log. A capture whose money
 * has gone back is `refunded`: it pays no order, and goes back no second time.
 *
 * A late payment whose activity is kept locked by others waits for it once, 3 s; from then on it fails at once.
 * @throws StoreUnavailableError when the order or the activity stays locked, or MySQL is away; nothing is recorded.
 */
export async function recordPayment(
  database: Database,
  log: RepositoryLog,
  busy: BusyActivities,
  event: PaymentEvent,
): Promise<PaymentResult> {
  const { result, quarantined } = await busy.avoid(database, (locked) =>
    inTransaction<Recorded>(
      database,
      (session) => recordOnce(session, event, locked),
      (recorded) => witnessOf(event, recorded),
      { afterLockWait: 'fail' },
    ),
  );
  if (quarantined !== undefined) {
    const { orderId, paymentId, eventId, amountMinor, currency } = event;
    const fields = { orderId, paymentId, eventId, amountMinor, currency, reason: quarantined };
    log.error(fields, 'a payment is quarantined: a person must look');
  }
  return result;
}

function witnessOf(event: PaymentEvent, { result: { outcome } }: Recorded): Witness | null {
  if (outcome === 'duplicate') return null;
  // A kept payment has had its row before it is decided.
  const decided = outcome === 'kept' ? '' : "AND state <> 'WAITING'";
  return {
    sql: `SELECT 1 FROM payment WHERE payment_id = ? AND type = ? AND order_id = ? AND amount_minor = ?
          AND currency = ? ${decided}`,
    values: [
      Buffer.from(event.paymentId),
      event.type,
      idToBytes(event.orderId),
      event.amountMinor,
      event.currency,
    ],
  };
}

async function recordOnce(
  session: Session,
  event: PaymentEvent,
  locked: readonly number[],
): Promise<Recorded> {
  const id = idToBytes(event.orderId);
  const row = await readRow(session, id, 'FOR UPDATE');
  if (row === undefined) return keepForLater(session, event);
  const order = toOrder(row);
  const verdict = judgePayment(order, event);
  const written = await writeOrDecide(session, event, verdict);
  await captureAttempt(session, event);
  if (written.kind === 'known') return { result: { outcome: 'duplicate', order } };
  if (written.kind === 'contradicts') {
    return { result: { outcome: 'quarantined', order }, quarantined: written.reason };
  }
  switch (verdict.kind) {
    case 'ignore':
      return { result: { outcome: 'ignored', order } };
    case 'quarantine':
      return { result: { outcome: 'quarantined', order }, quarantined: verdict.reason };
    case 'refund':
      await settleOpenAttempts(session, order.id);
      return { result: { outcome: 'refund_pending', order } };
    case 'returned':
      await insertShopEvents(session, 'refunded', [order.id]);
      return { result: { outcome: 'refunded', order } };
    case 'pay': {
      const effect = await markPaid(session, order, event);
      await settleOpenAttempts(session, order.id);
      return { result: { outcome: 'paid', order: await reread(session, id), effect } };
    }
    case 'late':
      await settleOpenAttempts(session, order.id);
      return { result: await takeLate(session, order, event, { paymentRow: written.id, locked }) };
  }
}

type Written =
  | { readonly kind: 'decided'; readonly id: number }
  | { readonly kind: 'known' }
  | { readonly kind: 'contradicts'; readonly reason: string };

/** A row for the event as decided: a new one, the one that was kept for its order, or one of its own in quarantine. */
async function writeOrDecide(
  session: Session,
  event: PaymentEvent,
  decision: PaymentDecision,
): Promise<Written> {
  const id = await insertPayment(session, event, decision);
  if (id !== undefined) return { kind: 'decided', id };
  const known = await findKnownPayment(session, event);
  if (known.kind === 'same') {
    const isDecided = await decideWaiting(session, known.id, event, decision);
    return isDecided ? { kind: 'decided', id: known.id } : { kind: 'known' };
  }
  return contradict(session, event, known);
}

/** An event that says a payment failed moves no money, whatever came before: there is nothing to set aside. */
async function contradict(
  session: Session,
  event: PaymentEvent,
  known: Extract<KnownPayment, { kind: 'contradicts' }>,
): Promise<Written> {
  if (event.type === 'payment.failed') return { kind: 'known' };
  const isNew = await quarantineContradiction(session, event, known);
  return isNew ? { kind: 'contradicts', reason: known.reason } : { kind: 'known' };
}

async function takeLate(
  session: Session,
  order: Order,
  event: PaymentEvent,
  { paymentRow, locked }: { paymentRow: number; locked: readonly number[] },
): Promise<PaymentResult> {
  const taken = await reacquirePlace(session, order, event, { paymentRow, locked });
  if (taken.kind === 'refused') {
    await explainRefund(session, paymentRow, taken.reason);
    return { outcome: 'refund_pending', order };
  }
  return {
    outcome: 'reacquired',
    order: await reread(session, idToBytes(order.id)),
    effect: taken.effect,
  };
}

/** No row to lock: if the order commits meanwhile, the payment waits for the settler's next look. */
async function keepForLater(session: Session, event: PaymentEvent): Promise<Recorded> {
  const returned = judgeReturned(event);
  if (returned) return recordReturned(session, event, returned);
  const isFailed = event.type === 'payment.failed';
  const decision = isFailed
    ? ({ state: 'FAILED', reason: null } as const)
    : ({ state: 'WAITING', reason: 'no such order yet' } as const);
  if ((await insertPayment(session, event, decision)) !== undefined)
    return { result: { outcome: isFailed ? 'ignored' : 'kept' } };
  const known = await findKnownPayment(session, event);
  if (known.kind === 'same') {
    return { result: { outcome: known.state === 'WAITING' ? 'kept' : 'duplicate' } };
  }
  const written = await contradict(session, event, known);
  return written.kind === 'contradicts'
    ? { result: { outcome: 'quarantined' }, quarantined: written.reason }
    : { result: { outcome: 'duplicate' } };
}

/** Waiting for its order would make it money again. */
async function recordReturned(session: Session, event: PaymentEvent, verdict: Verdict): Promise<Recorded> {
  const written = await writeOrDecide(session, event, verdict);
  if (written.kind === 'known') return { result: { outcome: 'duplicate' } };
  if (written.kind === 'contradicts')
    return { result: { outcome: 'quarantined' }, quarantined: written.reason };
  return verdict.kind === 'returned'
    ? { result: { outcome: 'refunded' } }
    : { result: { outcome: 'quarantined' }, quarantined: verdict.reason };
}

async function readRow(session: Session, id: Buffer, lock: 'FOR UPDATE' | ''): Promise<OrderRow | undefined> {
  const [row] = await session.rows<OrderRow>(`SELECT ${orderColumns} FROM orders WHERE id = ? ${lock}`, [id]);
  return row;
}

async function reread(session: Session, id: Buffer): Promise<Order> {
  const row = await readRow(session, id, '');
  if (row === undefined) throw new InvariantError('a locked order is not there');
  return toOrder(row);
}

async function markPaid(session: Session, order: Order, event: PaymentEvent): Promise<StockEffect> {
  const id = idToBytes(order.id);
  const batchId = idToBytes(newId());
  const { affectedRows } = await session.run(
    `UPDATE orders SET status = 'PAID', version = version + 1, paid_at = NOW(3), settle_until = NULL
     WHERE id = ? AND status = 'PENDING'`,
    [id],
  );
  if (affectedRows !== 1) throw new InvariantError(`locked order ${order.id} was no longer pending`);
  await session.run(
    `INSERT INTO order_transition
       (order_id, version, activity_id, from_status, to_status, cause, at, credit, effect_batch_id, actor)
     SELECT id, version, activity_id, 'PENDING', status, 'payment', paid_at, 0, ?, ? FROM orders WHERE id = ?`,
    [batchId, Buffer.from(event.paymentId), id],
  );
  const [effect] = await insertEffects(session, {
    batchId,
    kind: 'confirm',
    shopEvent: 'paid',
    idsByActivity: new Map([[order.activityId, idToBytes(order.id)]]),
  });
  if (effect === undefined) throw new InvariantError('a paid order confirmed nothing');
  return effect;
}
