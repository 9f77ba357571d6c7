import type { OrderStatus } from '@lapse/contracts';
import { v5 } from 'uuid';
import { idFromBytes } from './binary-id.ts';
import type { Session } from './session.ts';
import type { ShopEventType } from './shop-event.ts';

/** Something that happened to an order, with its place in the order's history. */
export interface OrderEvent {
  /** Made of order, type and occasion alone: whoever derives it again gets the same. */
  readonly eventId: string;
  readonly orderId: string;
  readonly type: ShopEventType;
  /** Rises along the history of one order; gaps mean nothing. */
  readonly seq: number;
  readonly at: Date;
  readonly paymentId: string | null;
}

interface HistoryRow {
  readonly kind: 'transition' | 'reminder' | 'refund';
  readonly order_id: Buffer;
  /** Version of a transition; row of a refunded payment. */
  readonly number: number;
  readonly to_status: OrderStatus | null;
  readonly at: Date;
  readonly payment_id: Buffer | null;
}

/** Each version of an order has room for a thousand places: the change itself, then what followed it. */
const placesPerVersion = 1_000;
const earlyRefundPlace = 50;
const reminderPlace = 100;
const refundPlace = 500;

const typeOfStatus: Readonly<Partial<Record<OrderStatus, ShopEventType>>> = {
  PAID: 'paid',
  TIMEOUT_CLOSED: 'closed',
  CANCELLED: 'cancelled',
};

/**
 * All that happened to these orders so far, from the rows that record it. One statement, so one view of the
 * data: with an event come all that were committed before it. In the order of their history, by order.
 */
export async function readOrderEvents(session: Session, ids: readonly Buffer[]): Promise<OrderEvent[]> {
  const rows = await session.rows<HistoryRow>(
    `SELECT 'transition' AS kind, order_id, version AS number, to_status, at,
       CASE cause WHEN 'payment' THEN actor END AS payment_id
     FROM order_transition WHERE order_id IN (?)
     UNION ALL
     SELECT 'reminder', order_id, CAST(0 AS UNSIGNED), NULL, created_at, NULL
     FROM notification WHERE order_id IN (?) AND stage = 'REMINDER'
     UNION ALL
     SELECT 'refund', order_id, id, NULL, COALESCE(refunded_at, received_at), payment_id
     FROM payment WHERE order_id IN (?) AND state = 'REFUNDED'`,
    [ids, ids, ids],
  );
  const versions = new Map<string, { version: number; at: Date }[]>();
  const reminders = new Map<string, Date>();
  for (const { kind, order_id, number, at } of rows) {
    const id = idFromBytes(order_id);
    if (kind === 'reminder') reminders.set(id, at);
    if (kind !== 'transition') continue;
    versions.set(id, [...(versions.get(id) ?? []), { version: number, at }]);
  }
  return rows
    .flatMap((row) => {
      const id = idFromBytes(row.order_id);
      return toEvent(row, versions.get(id) ?? [], reminders.get(id));
    })
    .sort((a, b) => (a.orderId < b.orderId ? -1 : a.orderId > b.orderId ? 1 : a.seq - b.seq));
}

function toEvent(
  row: HistoryRow,
  versions: readonly { version: number; at: Date }[],
  remindedAt: Date | undefined,
): OrderEvent[] {
  const type = typeOf(row);
  if (type === undefined) return [];
  const orderId = idFromBytes(row.order_id);
  const { at, number } = row;
  return [
    {
      eventId: v5(`order.${type}:${number}`, orderId),
      orderId,
      type,
      seq: placeOf(row, versions, remindedAt),
      at,
      paymentId: row.payment_id?.toString('utf8') ?? null,
    },
  ];
}

function typeOf({ kind, number, to_status }: HistoryRow): ShopEventType | undefined {
  if (kind === 'refund') return 'refunded';
  if (kind === 'reminder') return 'reminded';
  if (to_status === 'PENDING') return number === 1 ? 'created' : undefined;
  return to_status === null ? undefined : typeOfStatus[to_status];
}

/** A reminder is of the first version: only what is pending is reminded. */
function placeOf(
  { kind, number, at }: HistoryRow,
  versions: readonly { version: number; at: Date }[],
  remindedAt: Date | undefined,
): number {
  if (kind === 'transition') return number * placesPerVersion;
  if (kind === 'reminder') return placesPerVersion + reminderPlace;
  return placeOfRefund(at, versions, remindedAt);
}

/** A refund follows what it found. */
export function placeOfRefund(
  at: Date,
  versions: readonly { readonly version: number; readonly at: Date }[],
  remindedAt: Date | undefined,
): number {
  const before = versions.filter((transition) => transition.at <= at).map(({ version }) => version);
  const version = Math.max(1, ...before);
  // Money set aside may go back while the order is pending: then its reminder is still to come.
  const isBeforeReminder = version === 1 && (remindedAt === undefined || at < remindedAt);
  return version * placesPerVersion + (isBeforeReminder ? earlyRefundPlace : refundPlace);
}
