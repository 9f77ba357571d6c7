/** MySQL did not answer, is not reachable, or is too busy with the same rows. Nothing was committed; try later. */
export class StoreUnavailableError extends Error {
  readonly code = 'LAPSE_MYSQL_UNAVAILABLE';
  constructor(reason: string, options?: ErrorOptions) {
    super(`MySQL is not available: ${reason}`, options);
    this.name = 'StoreUnavailableError';
  }
}

/**
 * The connection was lost at COMMIT, and MySQL could not be asked since whether it was done. It may be done.
 * A caller must not undo anything: not release a hold, for one. The sweeper settles it.
 */
export class CommitUnknownError extends Error {
  readonly code = 'LAPSE_COMMIT_UNKNOWN';
  constructor(options?: ErrorOptions) {
    super('the connection to MySQL was lost at COMMIT: the change may or may not be there', options);
    this.name = 'CommitUnknownError';
  }
}

/** True when MySQL was away or too busy and nothing was committed. Not true of CommitUnknownError. */
export function isUnavailable(error: unknown): error is StoreUnavailableError {
  return error instanceof StoreUnavailableError;
}
