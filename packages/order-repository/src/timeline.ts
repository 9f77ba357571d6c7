import type { OrderStatus, Phase, TransitionCause } from '@lapse/contracts';
import type { EffectKind } from './effect-kind.ts';
import type { NoticeStage, NoticeState } from './notification.ts';
import type { Order } from './order.ts';
import type { PaymentEvent, PaymentState } from './payment.ts';
import type { PaymentAttempt } from './payment-attempt.ts';
import type { ShopEventState, ShopEventType } from './shop-event.ts';

export interface TimelineTransition {
  readonly version: number;
  /** Null for the first: before it there was no order. */
  readonly fromStatus: OrderStatus | null;
  readonly toStatus: OrderStatus;
  readonly cause: TransitionCause;
  readonly at: Date;
  /** Places returned to MySQL's stock by this change. */
  readonly credit: number;
  /** Places taken again, by a payment that came after the close. */
  readonly debit: number;
  readonly actor: string | null;
}

/** The timeout message of a phase: when it was written down, sent, and to be delivered. */
export interface TimelineMessage {
  readonly outboxId: string;
  readonly phase: Phase;
  /** How many orders share the row. */
  readonly orderCount: number;
  /** When this order is due in it. */
  readonly dueAt: Date;
  readonly createdAt: Date;
  readonly sentAt: Date | null;
  readonly deliverAt: Date | null;
  readonly messageId: string | null;
  readonly attempts: number;
  readonly lastError: string | null;
}

export interface TimelineNotification {
  /** Of its row, by which an operator has it sent again. */
  readonly id: number;
  readonly stage: NoticeStage;
  readonly state: NoticeState;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly nextAttemptAt: Date;
  readonly sentAt: Date | null;
  readonly lastError: string | null;
}

export interface TimelinePayment extends Omit<PaymentEvent, 'orderId' | 'provider' | 'providerRef'> {
  /** Of its row, by which an operator orders its refund. */
  readonly id: number;
  readonly state: PaymentState;
  readonly receivedAt: Date;
  readonly reason: string | null;
  /** Of a payment that goes back: tries of its refund, and what the provider said. */
  readonly refundTries: number;
  readonly refundRef: string | null;
  readonly refundedAt: Date | null;
  /** When the provider last said that the refund had failed. */
  readonly refundFailedAt: Date | null;
  readonly lastError: string | null;
}

export interface TimelineEffect {
  readonly id: string;
  readonly kind: EffectKind;
  readonly createdAt: Date;
  readonly attempts: number;
}

export interface TimelineParked {
  readonly id: number;
  readonly reason: string;
  readonly createdAt: Date;
}

/** What the shop's own systems are told of the order. */
export interface TimelineShopEvent {
  readonly id: number;
  readonly type: ShopEventType;
  readonly state: ShopEventState;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly nextAttemptAt: Date;
  readonly sentAt: Date | null;
  readonly lastError: string | null;
}

/** What an operator did to the order by hand. */
export interface TimelineAction {
  readonly at: Date;
  readonly actor: string;
  /** Such as `order.extend`. */
  readonly action: string;
  readonly reason: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** The life of one order; each list oldest first. */
export interface Timeline {
  readonly order: Order;
  /** When retention took its rows away; null: they are there. */
  readonly archivedAt: Date | null;
  /** When its whole sale was: since then, or soon after, Redis knows nothing of it. */
  readonly saleArchivedAt: Date | null;
  readonly transitions: readonly TimelineTransition[];
  readonly messages: readonly TimelineMessage[];
  readonly notifications: readonly TimelineNotification[];
  readonly shopEvents: readonly TimelineShopEvent[];
  readonly attempts: readonly PaymentAttempt[];
  readonly payments: readonly TimelinePayment[];
  readonly pendingEffects: readonly TimelineEffect[];
  readonly parked: readonly TimelineParked[];
  readonly actions: readonly TimelineAction[];
}
