export type { Activity, ActivityPage } from './activity.ts';
export type { ActiveOrder, ActivityCounts, NewFinding, PendingChanges } from './audit.ts';
export type {
  CloseCause,
  ClosedOrder,
  CloseResult,
  RemindedOrder,
  RemindResult,
  SettlingOrder,
  UnmovedOrders,
} from './batch-result.ts';
export type { CapacityRefusal, ChangedCapacity } from './capacity-result.ts';
export type { CreateOutcome, CreateResult, NewOrder } from './create-result.ts';
export type { DatabaseServer } from './database-server.ts';
export { CommitUnknownError, isUnavailable, StoreUnavailableError } from './errors.ts';
export type { ExtendedOrder, ExtendRefusal, Extension } from './extend-result.ts';
export type { Finding } from './finding.ts';
export { judgeExtension } from './judge-extension.ts';
export type { LeftEffect, LeftEffectKind, RedriveEffectOutcome } from './left-effect.ts';
export { migrate } from './migrate.ts';
export { judgeStoreFault } from './mysql-fault.ts';
export { newOrderId } from './new-order-id.ts';
export type {
  FinishedNotice,
  NoticeClaim,
  NoticeJob,
  NoticeOutcome,
  NoticeStage,
  NoticeState,
} from './notification.ts';
export { openOrderRepository } from './open-order-repository.ts';
export { openOrderViews } from './open-order-views.ts';
export type { OperatorRequest, OperatorResult, StoredAnswer } from './operator-result.ts';
export type { Order } from './order.ts';
export type {
  CancelledOrder,
  CancelRefusal,
  CancelResult,
  ClaimOutboxOptions,
  ClosedByOperator,
  CloseRefusal,
  ExpiredKeys,
  FenceResult,
  OrderRepository,
  OrphanHold,
  ParkedMessage,
  RepositoryConfig,
  RepositoryLog,
  SentRow,
} from './order-repository.ts';
export type { OrderFilter, OrderSearch } from './order-search.ts';
export type {
  DueDeadlines,
  DueMinute,
  OrderSummary,
  OrderViews,
  SummaryFilter,
  WatchedOrder,
  WorkToDo,
} from './order-views.ts';
export type { OrderCounts, Overview } from './overview.ts';
export type {
  Parked,
  ParkedFilter,
  ParkedKind,
  ParkedOutcome,
  ParkedState,
} from './parked.ts';
export type { PausedActivity, PauseRefusal } from './pause-result.ts';
export type {
  DismissOutcome,
  FinishRefundResult,
  PaymentBacklog,
  PaymentEvent,
  PaymentResult,
  PaymentState,
  RefundFailure,
  RefundFailureResult,
  RefundFilter,
  RefundJob,
  RefundOutcome,
  RefundRecord,
  RefundState,
  RefundTry,
  WaitingPayment,
} from './payment.ts';
export {
  type AttemptState,
  type ClaimOptions,
  isUndecided,
  type OpenAttemptResult,
  type PaymentAttempt,
  type ProviderAttempt,
} from './payment-attempt.ts';
export { readSchema, type SchemaState } from './read-schema.ts';
export type { RefundPaidByHand, RefundPaidByHandRefusal } from './refund-paid-by-hand.ts';
export type { ReminderCursor, ReminderSweep, ReminderSweepOptions } from './reminder-sweep.ts';
export type {
  ArchiveActivitiesOptions,
  ArchiveCursor,
  ArchivedActivities,
  ArchivedOrders,
  ArchivedSoldOrders,
  ArchivedStock,
  ArchiveOptions,
  ArchiveSoldOptions,
  EndedStatus,
  ForgetOptions,
  ForgetPaymentsOptions,
  ForgottenPayments,
  ForgottenRows,
  PaymentCursor,
} from './retention.ts';
export type { RowRefused, SettleAnswer, SettleOptions, SettleResult } from './settle-result.ts';
export type {
  FinishedShopEvent,
  ShopEventClaim,
  ShopEventJob,
  ShopEventOutcome,
  ShopEventType,
} from './shop-event.ts';
export type { ActivitySnapshot, SnapshotHold } from './snapshot.ts';
export type { CapacityEffect, ReacquireEffect, SettleEffect, StockEffect } from './stock-effect.ts';
export type {
  Timeline,
  TimelineAction,
  TimelineEffect,
  TimelineMessage,
  TimelineNotification,
  TimelineParked,
  TimelinePayment,
  TimelineShopEvent,
  TimelineTransition,
} from './timeline.ts';
export type { DeliveryKind, ResendOutcome, Undelivered } from './undelivered.ts';
export type { DirectedWorker, Worker, WorkerRefusal } from './worker.ts';
