import type { BookedOrder, Books } from './books.ts';
import type { Extension, Ledger, Payment, Purchase } from './ledger.ts';

/** What is wrong, each as a line for a person. */
export interface Faults {
  /** Promised, and not there. */
  readonly lost: string[];
  /** Done more often than asked. */
  readonly twice: string[];
  /** Closed before the deadline that the buyer was told. */
  readonly early: string[];
  /** Not final at rest. */
  readonly stuck: string[];
}

const active = ['PENDING', 'PAID'];
/** A capture of the right amount ends in one of these; what came too late or twice is paid back. */
const refundStates = ['REFUND_PENDING', 'REFUNDED'];

/**
 * Compare what the API promised, kept by those who were promised, with MySQL's rows at rest. Knows nothing of the
 * product but the meaning of its answers: a 201 is an order, an accepted payment is money with a place or a refund.
 */
export function judgeLedger(ledger: Ledger, books: Books): Faults {
  const faults: Faults = { lost: [], twice: [], early: [], stuck: [] };
  const byKey = groupBy(books.orders.values(), ({ user, key }) => `${user}\0${key}`);
  for (const purchase of ledger.purchases) judgePurchase(purchase, ledger, books, byKey, faults);
  const rows = groupBy(books.payments, ({ paymentId }) => paymentId);
  for (const payment of ledger.payments)
    judgePayment(payment, books, rows.get(payment.paymentId) ?? [], faults);
  for (const { orderId, answered } of ledger.cancellations) {
    const status = books.orders.get(orderId)?.status;
    if (answered === 'CANCELLED' && status !== 'CANCELLED') {
      faults.lost.push(`order ${orderId}: its buyer was told CANCELLED, it is ${status}`);
    }
  }
  const holders = groupBy(
    [...books.orders.values()].filter(({ status }) => active.includes(status)),
    ({ user, activityId }) => `${user}\0${activityId}`,
  );
  for (const [, orders] of holders) {
    if (orders.length > 1) faults.twice.push(`${orders.length} active orders of one buyer: ${idsOf(orders)}`);
  }
  for (const { id, status } of books.orders.values()) {
    if (status === 'PENDING') faults.stuck.push(`order ${id} is still PENDING`);
  }
  return faults;
}

function judgePurchase(
  { user, activityId, quantity, key, orders, refused }: Purchase,
  { extensions }: Ledger,
  books: Books,
  byKey: ReadonlyMap<string, BookedOrder[]>,
  faults: Faults,
): void {
  if (orders.size > 1) faults.twice.push(`key ${key} was answered with ${[...orders.keys()].join(' and ')}`);
  const written = byKey.get(`${user}\0${key}`) ?? [];
  if (written.length > 1) faults.twice.push(`key ${key} has ${written.length} orders: ${idsOf(written)}`);
  if (refused !== undefined && written.length > 0) {
    faults.twice.push(`key ${key} was refused with ${refused}, and has order ${idsOf(written)}`);
  }
  for (const [id, promised] of orders) {
    const order = books.orders.get(id);
    if (order === undefined || order.user !== user || order.key !== key || order.activityId !== activityId) {
      faults.lost.push(`order ${id} was promised to ${user}, and is not there`);
      continue;
    }
    if (order.quantity !== quantity)
      faults.lost.push(`order ${id} has ${order.quantity} places, not ${quantity}`);
    if (order.status === 'ABORTED') faults.lost.push(`order ${id} was promised, and is ABORTED`);
    judgeDeadline(order, Date.parse(promised.expiresAt), extensions.get(id), faults);
  }
}

/** An order has the deadline of its 201, or the one that an operator was answered; without an answer either. */
function judgeDeadline(
  { id, expiresAt, closedByTimeoutAt }: BookedOrder,
  promised: number,
  extension: Extension | undefined,
  faults: Faults,
): void {
  const answered = extension?.answeredExpiresAt;
  const maybe = extension === undefined ? [promised] : [promised, promised + extension.byMs];
  if (!(answered === undefined ? maybe : [answered]).includes(expiresAt)) {
    faults.lost.push(`order ${id} expires ${expiresAt - (answered ?? promised)} ms after what was promised`);
  }
  const deadline = answered ?? promised;
  if (closedByTimeoutAt !== null && closedByTimeoutAt < deadline) {
    faults.early.push(`order ${id} closed ${deadline - closedByTimeoutAt} ms before its promised deadline`);
  }
}

function judgePayment(
  { paymentId, orderId, right, outcomes }: Payment,
  books: Books,
  rows: Books['payments'],
  faults: Faults,
): void {
  const name = `payment ${paymentId} of order ${orderId}`;
  if (outcomes.length === 0) faults.stuck.push(`${name} was never accepted`);
  if (rows.length > 1) faults.twice.push(`${name} is written down ${rows.length} times`);
  const state = rows[0]?.state;
  const status = books.orders.get(orderId)?.status;
  if (outcomes.length > 0 && state === undefined)
    faults.lost.push(`${name} was accepted (${outcomes}), and is not there`);
  if (state === undefined) return;
  if (!right && state !== 'QUARANTINED') faults.lost.push(`${name} has the wrong amount, and is ${state}`);
  if (right && state === 'CAPTURED' && status !== 'PAID')
    faults.lost.push(`${name} is kept, and the order is ${status}`);
  if (right && state !== 'CAPTURED' && !refundStates.includes(state)) {
    faults.stuck.push(`${name} is ${state}: neither kept nor to be paid back`);
  }
  if ((outcomes.includes('paid') || outcomes.includes('reacquired')) && status !== 'PAID')
    faults.lost.push(`${name} was answered paid, the order is ${status}`);
}

function groupBy<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

function idsOf(orders: readonly BookedOrder[]): string {
  return orders.map(({ id, status }) => `${id} ${status}`).join(', ');
}
