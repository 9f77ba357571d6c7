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
  /** To go on behind; null: no more are over for so long. */
  readonly next: number | null;
}

export interface ArchivedWork {
  /** Activities that are archived and that Redis has not forgotten yet. */
  readonly inRedis: readonly number[];
  /** Those that it has, and that have paid orders which are not in the archive. */
  readonly withOrders: readonly number[];
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
  /** The buyer to go on behind; null: there are no more. */
  readonly next: string | null;
}

export interface ForgetOptions {
  /** Null: kept for ever. */
  readonly olderThanMs: number | null;
  /** How long what is archived is kept, from when it was archived. Null: for ever. */
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
  /** Of orders that are nowhere, once both of their policies are over. */
  readonly payments: number;
  /** Notes of what operators did. */
  readonly actions: number;
  readonly archived: number;
}
