import type {
  CreateActivityBody,
  OrderStatus,
  OutboxRow,
  Phase,
  WorkerReport,
  WorkerWish,
} from '@lapse/contracts';
import type { Activity, ActivityPage } from './activity.ts';
import type { ActiveOrder, ActivityCounts, NewFinding, PendingChanges } from './audit.ts';
import type { CloseCause, CloseResult, RemindResult } from './batch-result.ts';
import type { CapacityRefusal, ChangedCapacity } from './capacity-result.ts';
import type { CreateOutcome, NewOrder } from './create-result.ts';
import type { DatabaseServer } from './database-server.ts';
import type { ExtendedOrder, ExtendRefusal, Extension } from './extend-result.ts';
import type { Finding } from './finding.ts';
import type { LeftEffect, RedriveEffectOutcome } from './left-effect.ts';
import type { FinishedNotice, NoticeJob } from './notification.ts';
import type { ChangeAction, OperatorRequest, OperatorResult, StoredAnswer } from './operator-result.ts';
import type { Order } from './order.ts';
import type { OrderSearch } from './order-search.ts';
import type { OrderCounts, Overview } from './overview.ts';
import type { Parked, ParkedFilter, ParkedOutcome } from './parked.ts';
import type { PausedActivity, PauseRefusal } from './pause-result.ts';
import type {
  DismissOutcome,
  FinishRefundResult,
  PaymentBacklog,
  PaymentEvent,
  PaymentResult,
  RefundFailure,
  RefundFailureResult,
  RefundFilter,
  RefundJob,
  RefundOutcome,
  RefundRecord,
  RefundTry,
  WaitingPayment,
} from './payment.ts';
import type { ClaimOptions, OpenAttemptResult, PaymentAttempt, ProviderAttempt } from './payment-attempt.ts';
import type { RefundPaidByHand, RefundPaidByHandRefusal } from './refund-paid-by-hand.ts';
import type { ReminderSweep, ReminderSweepOptions } from './reminder-sweep.ts';
import type {
  ArchiveActivitiesOptions,
  ArchivedActivities,
  ArchivedOrders,
  ArchivedSoldOrders,
  ArchivedStock,
  ArchiveOptions,
  ArchiveSoldOptions,
  ForgetOptions,
  ForgetPaymentsOptions,
  ForgottenPayments,
  ForgottenRows,
} from './retention.ts';
import type { ServerConfig } from './server-config.ts';
import type { SettleAnswer, SettleOptions, SettleResult } from './settle-result.ts';
import type { FinishedShopEvent, ShopEventJob } from './shop-event.ts';
import type { ActivitySnapshot } from './snapshot.ts';
import type { StockEffect } from './stock-effect.ts';
import type { Timeline } from './timeline.ts';
import type { DeliveryKind, ResendOutcome, Undelivered } from './undelivered.ts';
import type { DirectedWorker, Worker, WorkerRefusal } from './worker.ts';

export interface RepositoryConfig extends ServerConfig {
  readonly poolMax: number;
  /** Longest a statement may take before its connection is given up. */
  readonly queryTimeoutMs: number;
  /** Write an event for the shop with every change of an order; off, it costs nothing. */
  readonly shopEvents?: boolean;
}

/** The part of a logger that the repository uses. */
export interface RepositoryLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface CancelledOrder {
  readonly kind: 'cancelled';
  readonly order: Order;
  readonly effect: StockEffect;
}
export type CancelResult =
  | CancelledOrder
  /** Its open payment attempt is being cancelled at the provider: ask again in a second. */
  | { readonly kind: 'paying' }
  | { readonly kind: 'not_pending'; readonly order: Order }
  /** No such order, or another buyer's. */
  | { readonly kind: 'not_found' };
export type CancelRefusal = Exclude<CancelResult, CancelledOrder>;

export interface ClosedByOperator {
  readonly order: Order;
  readonly effect: StockEffect;
  /** From its deadline to its close, by the database clock. */
  readonly latenessMs: number;
}
export type CloseRefusal =
  | { readonly kind: 'not_found' }
  | { readonly kind: 'not_pending'; readonly order: Order }
  | { readonly kind: 'not_due'; readonly order: Order; readonly dueInMs: number }
  /** It is being paid: it waits for its provider's word at most so long. */
  | { readonly kind: 'settling'; readonly order: Order; readonly forMs: number };

export interface ExpiredKeys {
  /** Orders whose key may be used again now. */
  readonly orders: number;
  /** Answers of operators' writes forgotten. */
  readonly answers: number;
  /** Nothing more to do now. */
  readonly drained: boolean;
}

/** A hold in Redis whose order may never have been written. */
export interface OrphanHold {
  readonly orderId: string;
  readonly activityId: number;
  readonly userId: string;
  readonly quantity: number;
}
export interface FenceResult {
  /** Never written, and never will be now: release these holds. The others have an order. */
  readonly fenced: readonly string[];
}

export interface SentRow {
  readonly id: string;
  readonly messageId: string;
  /** When the broker is to deliver it, in milliseconds since 1970. */
  readonly deliverAt: number;
}

export interface ClaimOutboxOptions {
  readonly olderThanMs: number;
  readonly limit: number;
  /** How long the rows are the caller's; afterwards others may claim them. */
  readonly leaseMs: number;
}

export interface ParkedMessage {
  readonly messageId: string;
  readonly phase: Phase;
  readonly reason: string;
  readonly body: Buffer;
}

/**
 * All that the system asks of MySQL. Every operation is one transaction at READ COMMITTED, or several, each whole in
 * itself, where it takes many rows. It retries deadlocks and lock waits a few times, and rejects quickly with
 * StoreUnavailableError when MySQL is away (see `isUnavailable`). What an operation guarantees is said in the file that bears its name.
 */
export interface OrderRepository {
  close(): Promise<void>;
  /** One round trip. Rejects when MySQL does not answer in time. */
  ping(): Promise<void>;
  /** The database clock, estimated, in milliseconds since 1970. Chooses when to act; only MySQL decides what is due. */
  now(): number;
  describeServer(): Promise<DatabaseServer>;

  createActivity(body: CreateActivityBody): Promise<Activity>;
  openActivity(
    body: CreateActivityBody,
    request: OperatorRequest,
    answer: (activity: Activity) => StoredAnswer,
  ): Promise<OperatorResult<Activity, never>>;
  changeCapacity(
    activityId: number,
    capacity: number,
    request: OperatorRequest,
    answer: (result: ChangedCapacity) => StoredAnswer,
  ): Promise<OperatorResult<ChangedCapacity, CapacityRefusal>>;
  setActivityPaused(
    id: number,
    paused: boolean,
    options: SettleOptions,
    answer: (result: PausedActivity) => StoredAnswer,
  ): Promise<OperatorResult<PausedActivity, PauseRefusal>>;
  readActivity(id: number): Promise<Activity | undefined>;
  listActivities(page: ActivityPage): Promise<Activity[]>;

  createOrders(orders: readonly NewOrder[]): Promise<CreateOutcome>;
  /** Also one that is in the archive. */
  readOrder(id: string): Promise<Order | undefined>;
  findActiveOrder(activityId: number, userId: string): Promise<Order | undefined>;
  findOrdersByKey(
    keys: readonly { userId: string; idempotencyKey: string }[],
  ): Promise<(Order | undefined)[]>;
  findOrders(search: OrderSearch): Promise<Order[]>;
  readTimeline(id: string): Promise<Timeline | undefined>;
  cancelOrder(id: string, userId: string): Promise<CancelResult>;
  cancelByOperator(
    id: string,
    request: OperatorRequest,
    answer: (result: CancelledOrder) => StoredAnswer,
  ): Promise<OperatorResult<CancelledOrder, CancelRefusal>>;
  closeByOperator(
    id: string,
    request: OperatorRequest,
    answer: (result: ClosedByOperator) => StoredAnswer,
  ): Promise<OperatorResult<ClosedByOperator, CloseRefusal>>;
  extendOrder(
    id: string,
    extension: Extension,
    request: OperatorRequest,
    answer: (result: ExtendedOrder) => StoredAnswer,
  ): Promise<OperatorResult<ExtendedOrder, ExtendRefusal>>;
  expireKeys(options: { limit: number }): Promise<ExpiredKeys>;
  archiveOrders(options: ArchiveOptions): Promise<ArchivedOrders>;
  archiveActivities(options: ArchiveActivitiesOptions): Promise<ArchivedActivities>;
  readArchivedStocks(page: { limit: number }): Promise<ArchivedStock[]>;
  noteStockForgotten(stock: ArchivedStock): Promise<void>;
  readArchivedSales(page: { afterId: number; limit: number }): Promise<number[]>;
  archiveSoldOrders(options: ArchiveSoldOptions): Promise<ArchivedSoldOrders>;
  forgetFinished(options: ForgetOptions): Promise<ForgottenRows>;
  forgetPayments(options: ForgetPaymentsOptions): Promise<ForgottenPayments>;
  recordPayment(event: PaymentEvent): Promise<PaymentResult>;
  claimWaitingPayments(options: { limit: number; retryMs: number }): Promise<WaitingPayment[]>;
  giveUpWaitingPayments(options: { olderThanMs: number; limit: number }): Promise<string[]>;

  openAttempt(wanted: { orderId: string; userId: string; provider: string }): Promise<OpenAttemptResult>;
  markAttemptOpen(id: string, answer: ProviderAttempt): Promise<PaymentAttempt | undefined>;
  claimDueAttempts(options: ClaimOptions): Promise<PaymentAttempt[]>;
  retryAttempt(id: string, retry: { inMs: number; error: string }): Promise<void>;
  endAttempt(id: string, state: 'CANCELLED' | 'FAILED', error?: string | null): Promise<boolean>;

  claimRefunds(options: ClaimOptions): Promise<RefundJob[]>;
  finishRefund(id: number, answer: { refundId: string; refundRef: string }): Promise<FinishRefundResult>;
  failRefund(claimed: RefundTry, retry: { inMs: number; error: string }): Promise<void>;
  recordRefundFailure(failure: RefundFailure): Promise<RefundFailureResult>;
  listRefunds(filter: RefundFilter): Promise<RefundRecord[]>;
  markRefundPaid(
    refund: { readonly id: number; readonly reference: string | null },
    request: OperatorRequest,
    answer: (paid: RefundPaidByHand) => StoredAnswer,
  ): Promise<OperatorResult<RefundPaidByHand, RefundPaidByHandRefusal>>;
  refundPayments(
    ids: readonly number[],
    options: SettleOptions,
    answer: SettleAnswer<RefundOutcome>,
  ): Promise<SettleResult<RefundOutcome>>;
  dismissPayments(
    ids: readonly number[],
    options: SettleOptions,
    answer: SettleAnswer<DismissOutcome>,
  ): Promise<SettleResult<DismissOutcome>>;
  readPaymentBacklog(): Promise<PaymentBacklog>;
  readOverview(): Promise<Overview>;
  readOldestOverdue(): Promise<{ oldestMs: number }>;
  countOrders(): Promise<OrderCounts>;

  closeExpired(ids: readonly string[], options: { cause: CloseCause }): Promise<CloseResult>;
  closeOverdue(options: { graceMs: number; limit: number }): Promise<CloseResult & { found: number }>;
  remindPending(ids: readonly string[]): Promise<RemindResult>;
  sweepReminders(options: ReminderSweepOptions): Promise<ReminderSweep>;
  rearm(phase: Phase, ids: readonly string[]): Promise<OutboxRow | null>;
  readStatuses(ids: readonly string[]): Promise<Map<string, OrderStatus>>;
  fenceOrphans(holds: readonly OrphanHold[]): Promise<FenceResult>;

  listPendingEffects(options: { olderThanMs: number; limit: number }): Promise<StockEffect[]>;
  markEffectsApplied(ids: readonly string[]): Promise<void>;
  expandClosedNotices(limit: number): Promise<number>;
  expandShopEvents(limit: number): Promise<number>;

  claimOutbox(options: ClaimOutboxOptions): Promise<OutboxRow[]>;
  markOutboxSent(rows: readonly SentRow[]): Promise<void>;
  markOutboxFailed(ids: readonly string[], error: string): Promise<void>;

  claimNotifications(options: { limit: number; leaseMs: number }): Promise<NoticeJob[]>;
  finishNotifications(finished: readonly FinishedNotice[]): Promise<void>;

  claimShopEvents(options: { limit: number; leaseMs: number }): Promise<ShopEventJob[]>;
  finishShopEvents(finished: readonly FinishedShopEvent[]): Promise<void>;

  listUndelivered(kind: DeliveryKind, page: { afterId: number; limit: number }): Promise<Undelivered[]>;
  resendUndelivered(
    kind: DeliveryKind,
    ids: readonly number[],
    options: SettleOptions,
    answer: SettleAnswer<ResendOutcome>,
  ): Promise<SettleResult<ResendOutcome>>;
  listLeftEffects(page: { afterId?: string; limit: number }): Promise<LeftEffect[]>;
  redriveEffects(
    ids: readonly string[],
    options: SettleOptions,
    answer: SettleAnswer<RedriveEffectOutcome>,
  ): Promise<SettleResult<RedriveEffectOutcome>>;

  parkMessage(message: ParkedMessage): Promise<void>;
  parkDeadLetter(message: ParkedMessage): Promise<void>;
  /** Newest first; `beforeId` is the last id of the page before. */
  listFindings(page: { beforeId?: string; limit: number }): Promise<Finding[]>;
  listParked(filter: ParkedFilter, page: { afterId: number; limit: number }): Promise<Parked[]>;
  redriveParked(
    ids: readonly number[],
    options: SettleOptions,
    answer: SettleAnswer<ParkedOutcome>,
  ): Promise<SettleResult<ParkedOutcome>>;
  dropParked(
    ids: readonly number[],
    options: SettleOptions,
    answer: SettleAnswer<ParkedOutcome>,
  ): Promise<SettleResult<ParkedOutcome>>;
  rebuildSnapshot(activityId: number, apply: (snapshot: ActivitySnapshot) => Promise<string>): Promise<void>;
  readActivityCounts(activityId: number): Promise<ActivityCounts | null>;
  readActiveOrders(
    activityId: number,
    page: { afterUserId: string | null; limit: number },
  ): Promise<ActiveOrder[]>;
  readPendingChanges(activityId: number): Promise<PendingChanges | null>;
  recordFindings(findings: readonly NewFinding[]): Promise<string[]>;
  markFindingsHealed(ids: readonly string[]): Promise<void>;
  noteAction(
    request: OperatorRequest,
    action: ChangeAction,
    answer: StoredAnswer,
  ): Promise<OperatorResult<null, never>>;
  noteFirstLoad(activityId: number, load: { generation: number; runId: string }): Promise<void>;

  reportWorker(report: WorkerReport): Promise<{ wanted: WorkerWish }>;
  forgetDeadWorkers(): Promise<number>;
  listWorkers(): Promise<Worker[]>;
  setWorkerWanted(
    id: string,
    wanted: WorkerWish,
    options: SettleOptions,
    answer: (result: DirectedWorker) => StoredAnswer,
  ): Promise<OperatorResult<DirectedWorker, WorkerRefusal>>;
}
