/** What can go wrong with a local service, each with what to do about it in its message. */
export type LocalServiceErrorCode =
  | 'LAPSE_SERVICE_START_FAILED'
  | 'LAPSE_SERVICE_STOPPED'
  | 'LAPSE_PORT_TAKEN'
  | 'LAPSE_DISK_FULL'
  | 'LAPSE_FOLDER_LOCKED'
  | 'LAPSE_PROGRAM_MISSING'
  | 'LAPSE_INSTALL_FAILED'
  | 'LAPSE_INSTALL_INVALID'
  | 'LAPSE_DOWNLOAD_FAILED';

/** An error that a person can act on. The message is complete: it needs no stack trace beside it. */
export class LocalServiceError extends Error {
  override readonly name = 'LocalServiceError';
  readonly code: LocalServiceErrorCode;

  constructor(code: LocalServiceErrorCode, message: string, options?: { cause?: unknown }) {
    super(`${code}: ${message}`, options);
    this.code = code;
  }
}
