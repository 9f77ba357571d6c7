import type { OrderStatus, TransitionCause } from '@lapse/contracts';
import type {
  PaymentAttempt,
  Timeline,
  TimelineMessage,
  TimelineNotification,
  TimelinePayment,
} from '@lapse/order-repository';
import type { Hold } from '@lapse/stock';

const createdAt = new Date('2030-01-01T00:00:00.000Z');
const expiresAt = new Date('2030-01-01T00:15:00.000Z');
const orderId = '019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001';

const order: Timeline['order'] = {
  id: orderId,
  activityId: 7,
  userId: 'ann',
  quantity: 1,
  amountMinor: 5_000,
  currency: 'CNY',
  locale: 'en',
  status: 'PENDING',
  version: 1,
  createdAt,
  remindAt: new Date('2030-01-01T00:10:00.000Z'),
  expiresAt,
  firstRemindAt: null,
  firstExpiresAt: null,
  remindedAt: null,
  paidAt: null,
  closedAt: null,
  idempotencyKey: 'k',
  requestHash: Buffer.alloc(32),
};
const placed = {
  version: 1,
  fromStatus: null,
  toStatus: 'PENDING',
  cause: 'create',
  at: createdAt,
  credit: 0,
  debit: 0,
  actor: null,
} as const;
const timeline: Timeline = {
  order,
  archivedAt: null,
  saleArchivedAt: null,
  transitions: [placed],
  messages: [],
  notifications: [],
  shopEvents: [],
  attempts: [],
  payments: [],
  pendingEffects: [],
  parked: [],
  actions: [],
};
const hold: Hold = {
  orderId,
  userId: 'ann',
  quantity: 1,
  state: 'held',
  atMs: createdAt.getTime(),
  heldFromMs: null,
};
const closeMessage: TimelineMessage = {
  outboxId: '019ad0c4-8b1e-7c3a-9f00-3b1c52d6a002',
  phase: 2,
  orderCount: 1,
  dueAt: expiresAt,
  createdAt,
  sentAt: createdAt,
  deliverAt: expiresAt,
  messageId: 'm1',
  attempts: 1,
  lastError: null,
};
const notice: TimelineNotification = {
  id: 3,
  stage: 'CLOSED',
  state: 'SENT',
  attempts: 1,
  createdAt: expiresAt,
  nextAttemptAt: expiresAt,
  sentAt: expiresAt,
  lastError: null,
};

/** An order that was placed and nothing else, and what may be added to its life. */
export const aTimeline = { timeline, hold, closeMessage, notice };

/** Its end, so many milliseconds after its deadline. */
export function closedBy(
  cause: TransitionCause,
  lateMs: number,
  toStatus: OrderStatus = 'TIMEOUT_CLOSED',
): Pick<Timeline, 'order' | 'transitions'> {
  const at = new Date(expiresAt.getTime() + lateMs);
  const actor = cause === 'operator' ? 'boss' : null;
  const closed = {
    ...placed,
    version: 2,
    fromStatus: 'PENDING',
    toStatus,
    cause,
    at,
    credit: 1,
    actor,
  } as const;
  return { order: { ...order, status: toStatus, closedAt: at }, transitions: [placed, closed] };
}

export function payment(change: Partial<TimelinePayment>): TimelinePayment {
  return {
    id: 31,
    eventId: 'e1',
    type: 'payment.captured',
    paymentId: 'p1',
    amountMinor: 5_000,
    currency: 'CNY',
    state: 'CAPTURED',
    occurredAt: expiresAt,
    receivedAt: expiresAt,
    reason: null,
    refundTries: 0,
    refundRef: null,
    refundedAt: null,
    refundFailedAt: null,
    lastError: null,
    ...change,
  };
}

/** A payment that the buyer began five seconds before the deadline, and that the provider has not decided. */
export function attempt(change: Partial<PaymentAttempt> = {}): PaymentAttempt {
  return {
    id: 'a1',
    orderId,
    provider: 'simulator',
    providerRef: 'sim_1',
    amountMinor: 5_000,
    currency: 'CNY',
    state: 'OPEN',
    payUrl: null,
    clientSecret: null,
    createdAt: new Date(expiresAt.getTime() - 5_000),
    settleAt: expiresAt,
    endedAt: null,
    tries: 0,
    lastError: null,
    ...change,
  };
}

/** As they are, so that a test can name them. */
export const words = {
  time: (at: Date) => at.toISOString(),
  amount: (amountMinor: number, currency: string) => `${amountMinor} ${currency}`,
};
