/** The ways in which an order ends without being sold. */
export type EndedStatus = 'TIMEOUT_CLOSED' | 'CANCELLED' | 'ABORTED';

/** Where a walk over orders of one status has come: the next call goes on behind it. */
export interface ArchiveCursor {
  readonly expiresAt: Date;
  readonly id: string;
}

export interface ArchiveOptions {
  readonly status: EndedStatus;
  /** Both its end and its deadline must be so long ago. */
  readonly olderThanMs: number;
  /** Most orders of one call, and of one transaction. */
  readonly limit: number;
  /** Null: from the oldest on. */
  readonly after: ArchiveCursor | null;
}

export interface ArchivedOrders {
  readonly archived: number;
  /** Old enough, and left where they are: something of theirs is open, or locked by others. */
  readonly left: number;
  /** So many old effects are undone that no order is archived until they are seen to. */
  readonly isHeldUp: boolean;
  /** Null: nothing more is old enough. */
  readonly next: ArchiveCursor | null;
}

export interface ArchiveActivitiesOptions {
  /** Its sale must be over for so long, and every order of it that is paid must be paid for so long. */
  readonly olderThanMs: number;
  /** Most activities looked at in one call; each is a transaction of its own. */
  readonly limit: number;
  /** Goes on behind this one; 0: from the first on. */
  readonly afterId: number;
}

export interface ArchivedActivities {
  readonly archived: readonly number[];
  /** Those whose transaction failed, and of what. They stay, and keep nobody. */
  readonly failures: readonly { readonly activityId: number; readonly error: unknown }[];
  /** To go on behind; null: no more are over for so long. */
  readonly next: number | null;
}

/** What Redis has, or may have, of an archived activity. */
export interface ArchivedStock {
  readonly activityId: number;
  readonly generation: number;
  /** Of the server that took it. */
  readonly runId: string;
}

export interface ArchiveSoldOptions {
  readonly activityId: number;
  /** Both its payment and its deadline must be so long ago. */
  readonly olderThanMs: number;
  /** Most orders of one call, and of one transaction. */
  readonly limit: number;
  /** Null: from the first buyer on. */
  readonly afterUserId: string | null;
}

export interface ArchivedSoldOrders {
  readonly archived: number;
  /** Left where they are: younger, something of theirs is open, or locked by others. */
  readonly left: number;
  /** So many old effects are undone that no order is archived until they are seen to. */
  readonly isHeldUp: boolean;
  /** The buyer to go on behind; null: there are no more. */
  readonly next: string | null;
}

export interface ForgetOptions {
  /** Null: kept for ever. */
  readonly olderThanMs: number | null;
  /**
   * How long what is archived is kept, from when it was archived; at least until messages as old are gone. Null: for
   * ever.
   */
  readonly archiveOlderThanMs: number | null;
  /** How long what operators did by hand is kept. Null: for ever. */
  readonly actionsOlderThanMs: number | null;
  /** Most rows of one table in one call. */
  readonly limit: number;
}

/** Rows deleted. */
export interface ForgottenRows {
  /** Outbox rows that were sent and have nothing more to do. */
  readonly messages: number;
  /** What was set aside, and a person has settled. */
  readonly parked: number;
  /** Findings of the audit that are healed. */
  readonly findings: number;
  /** Notes of what operators did. */
  readonly actions: number;
  readonly archived: number;
}

/** Of a payment that is no open matter, and is not kept by an order. */
export type SettledState = 'REFUNDED' | 'DISMISSED' | 'FAILED';

/** Where a walk over payments has come: the next call goes on behind it. */
export interface PaymentCursor {
  readonly state: SettledState;
  /** Null: from the oldest of this state on. */
  readonly receivedAt: Date | null;
  readonly id: number;
}

export interface ForgetPaymentsOptions {
  /** So long ago it came, and its money moved for the last time. */
  readonly olderThanMs: number;
  /** Most rows read in one call. */
  readonly limit: number;
  /** Null: from the first on. */
  readonly after: PaymentCursor | null;
}

export interface ForgottenPayments {
  /** Rows deleted. */
  readonly payments: number;
  /** Null: there are no more. */
  readonly next: PaymentCursor | null;
}
