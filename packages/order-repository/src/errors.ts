/** MySQL did not answer, is not reachable, or is too busy with the same rows. Nothing was committed; try later. */
export class StoreUnavailableError extends Error {
  readonly code: 'LAPSE_MYSQL_UNAVAILABLE' | StoreRefusal = 'LAPSE_MYSQL_UNAVAILABLE';
  constructor(reason: string, options?: ErrorOptions) {
    super(`MySQL is not available: ${reason}`, options);
    this.name = 'StoreUnavailableError';
  }
}

export type StoreRefusal = 'LAPSE_MYSQL_TLS' | 'LAPSE_MYSQL_DENIED';

/** MySQL is there, and we do not come in: by its certificate or ours, or by the login. Waiting alone helps nothing. */
export class StoreRefusedError extends StoreUnavailableError {
  override readonly code: StoreRefusal;
  constructor(code: StoreRefusal, reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'StoreRefusedError';
    this.code = code;
  }
}

/** The row of an activity stayed locked by others for as long as a lock is waited for. */
export class ActivityLockedError extends StoreUnavailableError {
  readonly activityId: number;
  /** All of which it is worth asking whether they are locked too, this one included. */
  readonly activityIds: readonly number[];
  constructor(activityId: number, activityIds: readonly number[], options?: ErrorOptions) {
    super(`activity ${activityId} stayed locked by others`, options);
    this.activityId = activityId;
    this.activityIds = activityIds;
  }
}

/**
 * A change may or may not be there: the connection was lost at COMMIT and MySQL could not be asked since, or
 * a batch failed after a part of it was committed. A caller must not undo anything: not release a hold, for
 * one. Sent again, the operation tells what is there; else the sweeper settles it.
 */
export class CommitUnknownError extends Error {
  readonly code = 'LAPSE_COMMIT_UNKNOWN';
  constructor(what: string, options?: ErrorOptions) {
    super(`${what}: the change may or may not be there`, options);
    this.name = 'CommitUnknownError';
  }
}

/** True when MySQL was away or too busy and nothing was committed. Not true of CommitUnknownError. */
export function isUnavailable(error: unknown): error is StoreUnavailableError {
  return error instanceof StoreUnavailableError;
}

/** A statement changed other rows than the locks it runs under allow: a fault of ours, never of the caller. */
export class InvariantError extends Error {
  readonly code = 'LAPSE_INVARIANT';
  constructor(message: string) {
    super(message);
    this.name = 'InvariantError';
  }
}

/** What the archive has of an order is not what this release can read. Nothing was changed. */
export class UnreadableHistoryError extends Error {
  readonly code = 'LAPSE_ARCHIVE_UNREADABLE';
  constructor(why: string, whatToDo: string, options?: ErrorOptions) {
    super(`The order's history in the archive cannot be read: ${why}. ${whatToDo}`, options);
    this.name = 'UnreadableHistoryError';
  }
}
