import type { OrderStatus, OutboxRow, TransitionCause } from '@lapse/contracts';
import type {
  Activity,
  NewOrder,
  NoticeStage,
  NoticeState,
  Order,
  PaymentAttempt,
  PaymentEvent,
  PaymentState,
  StockEffect,
} from '@lapse/order-repository';

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

export type ActivityRow = Writable<Activity>;

export type OrderRow = Writable<Order> & {
  /** Until then a close leaves the order to its payment; null while no attempt is open. */
  settleUntil: Date | null;
};

/** The ledger: one row for each change of status. */
export interface TransitionRow {
  readonly orderId: string;
  readonly version: number;
  readonly from: OrderStatus | null;
  readonly to: OrderStatus;
  readonly cause: TransitionCause;
  readonly atMs: number;
  /** Places given back, and places taken again by a payment that came late. */
  readonly credit: number;
  readonly debit: number;
}

export interface OutboxState extends OutboxRow {
  readonly createdAtMs: number;
  /** The earliest of its orders; a sweep of reminders moves it on. */
  dueAtMs: number;
  /** Nothing more to remind. */
  isSwept: boolean;
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
  readonly id: number;
  readonly orderId: string;
  readonly stage: NoticeStage;
  /** The order's status when the notice was written. */
  readonly status: OrderStatus;
  state: NoticeState;
  attempts: number;
  /** Of those, never begun. */
  attemptsBefore: number;
  nextAttemptMs: number;
  claimedUntilMs: number | null;
}

export interface PaymentRow {
  readonly id: number;
  readonly event: PaymentEvent;
  /** It says other than an earlier row with its event's id or of its payment. */
  isContradiction: boolean;
  readonly receivedAtMs: number;
  state: PaymentState;
  refundId: string | null;
  refundTries: number;
  nextTryAtMs: number | null;
  claimedUntilMs: number | null;
}

export type AttemptRow = Writable<PaymentAttempt> & { claimedUntilMs: number | null };

/** The tables. The oracle reads them as they are. */
export interface Tables {
  readonly activities: Map<number, ActivityRow>;
  readonly orders: Map<string, OrderRow>;
  readonly transitions: TransitionRow[];
  readonly effects: Map<string, EffectRow>;
  readonly outbox: Map<string, OutboxState>;
  readonly notices: NoticeRow[];
  /** Orders that closed together, and whose buyers have no notice yet. */
  readonly closedBatches: Map<string, readonly string[]>;
  readonly payments: PaymentRow[];
  readonly attempts: Map<string, AttemptRow>;
}

export function emptyTables(): Tables {
  return {
    activities: new Map(),
    orders: new Map(),
    transitions: [],
    effects: new Map(),
    outbox: new Map(),
    notices: [],
    closedBatches: new Map(),
    payments: [],
    attempts: new Map(),
  };
}

/** What is empty in a new order. */
const untouched = {
  version: 1,
  ...{ firstRemindAt: null, firstExpiresAt: null, remindedAt: null, paidAt: null, closedAt: null },
  settleUntil: null,
} as const;

export function toOrderRow(order: NewOrder): OrderRow {
  const { generation: _generation, ...rest } = order;
  return { ...rest, ...untouched, status: 'PENDING' };
}

/** A hold's fence: an order that was never sold. */
export function toFenceRow(
  { orderId, ...hold }: Pick<Order, 'activityId' | 'userId' | 'quantity'> & { readonly orderId: string },
  at: Date,
): OrderRow {
  const { activityId, userId, quantity } = hold;
  return {
    ...untouched,
    ...{ id: orderId, activityId, userId, quantity, amountMinor: 0, currency: '', locale: '' },
    ...{ status: 'ABORTED', createdAt: at, remindAt: at, expiresAt: at, closedAt: at },
    ...{ idempotencyKey: '', requestHash: Buffer.alloc(32) },
  };
}

/** The order as the port answers it, and as it was then. */
export function toOrder({ settleUntil: _own, ...order }: OrderRow): Order {
  return order;
}

export function isActive({ status }: { readonly status: OrderStatus }): boolean {
  return status === 'PENDING' || status === 'PAID';
}

export function isOpen({ state }: { readonly state: PaymentAttempt['state'] }): boolean {
  return state === 'CREATING' || state === 'OPEN';
}
