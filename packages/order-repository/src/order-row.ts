import type { OrderStatus } from '@lapse/contracts';
import { idFromBytes } from './binary-id.ts';
import type { Order } from './order.ts';
import { userFromBytes } from './user-bytes.ts';

/** The columns that `toOrder` reads. */
export const orderColumns =
  'id, activity_id, user_id, quantity, amount_minor, currency, locale, status, version, created_at, remind_at,' +
  ' expires_at, reminded_at, paid_at, closed_at, idempotency_key, request_hash,' +
  ' first_remind_at, first_expires_at';

export interface OrderRow {
  readonly id: Buffer;
  readonly activity_id: number;
  readonly user_id: Buffer;
  readonly quantity: number;
  readonly amount_minor: number;
  readonly currency: string;
  readonly locale: string;
  readonly status: OrderStatus;
  readonly version: number;
  readonly created_at: Date;
  readonly remind_at: Date;
  readonly expires_at: Date;
  readonly reminded_at: Date | null;
  readonly paid_at: Date | null;
  readonly closed_at: Date | null;
  readonly idempotency_key: Buffer | null;
  readonly request_hash: Buffer;
  readonly first_remind_at: Date | null;
  readonly first_expires_at: Date | null;
}

export function toOrder(row: OrderRow): Order {
  return {
    id: idFromBytes(row.id),
    activityId: row.activity_id,
    userId: userFromBytes(row.user_id),
    quantity: row.quantity,
    amountMinor: row.amount_minor,
    currency: row.currency,
    locale: row.locale,
    status: row.status,
    version: row.version,
    createdAt: row.created_at,
    remindAt: row.remind_at,
    expiresAt: row.expires_at,
    firstRemindAt: row.first_remind_at,
    firstExpiresAt: row.first_expires_at,
    remindedAt: row.reminded_at,
    paidAt: row.paid_at,
    closedAt: row.closed_at,
    idempotencyKey: row.idempotency_key?.toString('latin1') ?? '',
    requestHash: row.request_hash,
  };
}
