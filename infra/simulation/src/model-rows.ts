import type { OrderStatus, OutboxRow, TransitionCause } from '@lapse/contracts';
import type { Activity, NewOrder, Order, PaymentState, StockEffect } from '@lapse/order-repository';

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

export type ActivityRow = Writable<Activity>;
export type OrderRow = Writable<Order>;

/** The ledger: one row for each change of status. */
export interface TransitionRow {
  readonly orderId: string;
  readonly version: number;
  readonly from: OrderStatus | null;
  readonly to: OrderStatus;
  readonly cause: TransitionCause;
  readonly atMs: number;
  readonly credit: number;
}

export interface OutboxState extends OutboxRow {
  readonly createdAtMs: number;
  sentAtMs: number | null;
  claimedUntilMs: number | null;
  attempts: number;
}

export interface EffectRow {
  readonly effect: StockEffect;
  readonly createdAtMs: number;
  attempts: number;
}

export interface NoticeRow {
  readonly orderId: string;
  readonly stage: 'REMINDER' | 'CLOSED';
  /** The order's status when the notice was written. */
  readonly status: OrderStatus;
}

export interface PaymentRow {
  readonly eventId: string;
  readonly paymentId: string;
  readonly type: 'payment.captured' | 'payment.failed';
  readonly orderId: string;
  state: PaymentState;
}

/** The tables. The oracle reads them as they are. */
export interface Tables {
  readonly activities: Map<number, ActivityRow>;
  readonly orders: Map<string, OrderRow>;
  readonly transitions: TransitionRow[];
  readonly effects: Map<string, EffectRow>;
  readonly outbox: Map<string, OutboxState>;
  readonly notices: NoticeRow[];
  readonly payments: PaymentRow[];
}

export function emptyTables(): Tables {
  return {
    activities: new Map(),
    orders: new Map(),
    transitions: [],
    effects: new Map(),
    outbox: new Map(),
    notices: [],
    payments: [],
  };
}

/** What is empty in a new order. */
export const untouched = {
  version: 1,
  ...{ firstRemindAt: null, firstExpiresAt: null, remindedAt: null, paidAt: null, closedAt: null },
} as const;

export function toOrderRow(order: NewOrder): OrderRow {
  const { generation: _generation, ...rest } = order;
  return { ...rest, ...untouched, status: 'PENDING' };
}

export function isActive({ status }: { readonly status: OrderStatus }): boolean {
  return status === 'PENDING' || status === 'PAID';
}
