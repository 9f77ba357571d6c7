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

export interface ForgetOptions {
  /** Null: kept for ever. */
  readonly olderThanMs: number | null;
  /** How long what is archived is kept, from when it was archived. Null: for ever. */
  readonly archiveOlderThanMs: number | null;
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
  readonly archived: number;
}
