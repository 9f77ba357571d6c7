import type { OrderStatus, PaymentWebhookBody, TransitionCause } from '@lapse/contracts';
import { type AttemptRow, attemptColumns } from './attempt-row.ts';
import type { NoticeStage, NoticeState } from './notification.ts';
import { type OrderRow, orderColumns } from './order-row.ts';
import type { PaymentState } from './payment.ts';
import { type MessageRow, readMessages } from './read-messages.ts';
import type { Session } from './session.ts';
import type { ShopEventState, ShopEventType } from './shop-event.ts';

export interface TimelineOrderRow extends OrderRow {
  readonly reminder_outbox_id: Buffer | null;
  readonly close_outbox_id: Buffer | null;
}
export interface TransitionRow {
  readonly order_id: Buffer;
  readonly version: number;
  readonly from_status: OrderStatus | null;
  readonly to_status: OrderStatus;
  readonly cause: TransitionCause;
  readonly at: Date;
  readonly credit: number;
  readonly debit: number;
  readonly actor: Buffer | null;
  readonly effect_batch_id: Buffer | null;
}
interface DeliveryRow {
  readonly id: number;
  readonly order_id: Buffer;
  readonly attempts: number;
  readonly created_at: Date;
  readonly next_attempt_at: Date;
  readonly sent_at: Date | null;
  readonly last_error: string | null;
}
export interface NotificationRow extends DeliveryRow {
  readonly stage: NoticeStage;
  readonly state: NoticeState;
}
export interface ShopEventRow extends DeliveryRow {
  readonly type: ShopEventType;
  readonly state: ShopEventState;
}
export interface PaymentRow {
  readonly id: number;
  readonly order_id: Buffer;
  readonly event_id: Buffer;
  readonly type: PaymentWebhookBody['type'];
  readonly payment_id: Buffer;
  readonly amount_minor: number;
  readonly currency: string;
  readonly state: PaymentState;
  readonly occurred_at: Date;
  readonly received_at: Date;
  readonly reason: string | null;
  readonly refund_tries: number;
  readonly refund_ref: Buffer | null;
  readonly refunded_at: Date | null;
  readonly refund_failed_at: Date | null;
  readonly last_error: string | null;
}

/** All that MySQL has of one order, row by row; each list oldest first. */
export interface TimelineRows {
  readonly order: TimelineOrderRow;
  readonly transitions: readonly TransitionRow[];
  readonly messages: readonly MessageRow[];
  readonly notifications: readonly NotificationRow[];
  readonly shopEvents: readonly ShopEventRow[];
  readonly attempts: readonly AttemptRow[];
  readonly payments: readonly PaymentRow[];
}

export const timelineOrderColumns = `${orderColumns}, reminder_outbox_id, close_outbox_id`;

const transitionColumns =
  'order_id, version, from_status, to_status, cause, at, credit, debit, actor, effect_batch_id';
const deliveryColumns = 'id, order_id, state, attempts, created_at, next_attempt_at, sent_at, last_error';
const paymentColumns =
  'id, order_id, event_id, type, payment_id, amount_minor, currency, state, occurred_at, received_at, reason,' +
  ' refund_tries, refund_ref, refunded_at, refund_failed_at, last_error';

const fromShopEvents = `type, ${deliveryColumns} FROM shop_event`;
const fromPayments = `${paymentColumns} FROM payment`;
const oldestPaymentFirst = 'received_at, id';

/** An order's payments, whether it is there or not: they stay when it is archived, and more may come. */
export function readPaymentRows(session: Session, orderId: Buffer): Promise<PaymentRow[]> {
  return session.rows(`SELECT ${fromPayments} WHERE order_id = ? ORDER BY ${oldestPaymentFirst}`, [orderId]);
}

/** What the shop is told of an order that is archived; what it was told before is in the archive. */
export function readShopEventRows(session: Session, orderId: Buffer): Promise<ShopEventRow[]> {
  return session.rows(`SELECT ${fromShopEvents} WHERE order_id = ? ORDER BY seq`, [orderId]);
}

/**
 * The rows of these orders, which were read before, one statement a table. Not at one instant.
 * @param lock rows that others change without the lock of their order are locked too; those that others have locked
 * are not among the result.
 */
export async function readTimelineRows(
  session: Session,
  orders: readonly TimelineOrderRow[],
  lock: 'FOR UPDATE SKIP LOCKED' | '' = '',
): Promise<TimelineRows[]> {
  if (orders.length === 0) return [];
  const ids = orders.map(({ id }) => id);
  const read = async <Row extends { readonly order_id: Buffer }>(what: string, oldestFirst: string) =>
    groupByOrder(
      await session.rows<Row>(`SELECT ${what} WHERE order_id IN (?) ORDER BY ${oldestFirst} ${lock}`, [ids]),
    );
  const transitions = groupByOrder(
    await session.rows<TransitionRow>(
      `SELECT ${transitionColumns} FROM order_transition WHERE order_id IN (?) ORDER BY version`,
      [ids],
    ),
  );
  const messages = await readMessages(session, orders);
  const notifications = await read<NotificationRow>(
    `stage, ${deliveryColumns} FROM notification`,
    'created_at, id',
  );
  const shopEvents = await read<ShopEventRow>(fromShopEvents, 'seq');
  const attempts = await read<AttemptRow>(`${attemptColumns} FROM payment_attempt`, 'created_at, id');
  const payments = await read<PaymentRow>(fromPayments, oldestPaymentFirst);
  return orders.map((order) => {
    const key = keyOf(order.id);
    return {
      order,
      transitions: transitions.get(key) ?? [],
      messages: messages.get(key) ?? [],
      notifications: notifications.get(key) ?? [],
      shopEvents: shopEvents.get(key) ?? [],
      attempts: attempts.get(key) ?? [],
      payments: payments.get(key) ?? [],
    };
  });
}

function keyOf(id: Buffer): string {
  return id.toString('hex');
}

function groupByOrder<Row extends { readonly order_id: Buffer }>(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = keyOf(row.order_id);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return groups;
}
