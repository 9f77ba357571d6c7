import type { OrderStatus } from '@lapse/contracts';
import type { FailedDelivery } from './undelivered.ts';

export type NoticeStage = 'REMINDER' | 'CLOSED';
export type NoticeState = 'WAITING' | 'SENT' | 'SKIPPED' | 'PARKED';

/** A notice to deliver now, with what its text needs. Leased to one caller for a while. */
export interface NoticeJob {
  readonly id: number;
  readonly stage: NoticeStage;
  readonly orderId: string;
  readonly activityId: number;
  readonly activityName: string;
  readonly userId: string;
  readonly locale: string;
  readonly quantity: number;
  readonly amountMinor: number;
  readonly currency: string;
  /** The order's status when the notice was claimed: a reminder of an order that is not pending is skipped. */
  readonly status: OrderStatus;
  readonly expiresAt: Date;
  /** Deliveries begun, this one included: with `id` it names the claim. */
  readonly attempts: number;
  /** Of those, since it was last sent again by hand: what a limit of tries counts. */
  readonly tries: number;
}

/** A claimed notice: only this claim may finish it. */
export type NoticeClaim = Pick<NoticeJob, 'id' | 'attempts'>;

export type NoticeOutcome = { readonly state: 'SENT' } | { readonly state: 'SKIPPED' } | FailedDelivery;

export interface FinishedNotice {
  readonly claim: NoticeClaim;
  readonly outcome: NoticeOutcome;
}
