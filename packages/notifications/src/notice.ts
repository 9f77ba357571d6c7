/** REMINDER: the order closes soon. CLOSED: it was not paid in time. */
export type NoticeStage = 'REMINDER' | 'CLOSED';

/** One notice to one buyer, with all that its text needs. A job of the order repository fits. */
export interface Notice {
  /** Its row in the notification table; for the log. Its identity is order and stage. */
  readonly id: number | string;
  readonly stage: NoticeStage;
  readonly orderId: string;
  readonly activityId: number;
  readonly activityName: string;
  readonly userId: string;
  /** BCP 47, such as `en` or `zh-CN`. */
  readonly locale: string;
  readonly quantity: number;
  readonly amountMinor: number;
  readonly currency: string;
  readonly expiresAt: Date;
  /** Left until `expiresAt` by the database clock, read when the notice is sent. */
  readonly remainingMs: number;
}
