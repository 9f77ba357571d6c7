export interface DeliveryFault {
  /** HTTP or SMTP status of the receiver, when it answered. */
  readonly status?: number;
  /** How long the receiver asked us to wait (`Retry-After`), when it did. */
  readonly retryAfterMs?: number;
  /** The same again would be refused again: this notice is parked at once. */
  readonly permanent?: true;
  readonly cause?: unknown;
}

/**
 * A notice did not arrive, or not for certain: send it again later, with the same id. Its message names
 * the receiver's host at most, for the rest of its URL may hold a secret.
 */
export class DeliveryError extends Error {
  readonly code = 'LAPSE_NOTICE_NOT_DELIVERED';
  readonly status?: number;
  readonly retryAfterMs?: number;
  readonly permanent?: true;

  constructor(message: string, { status, retryAfterMs, permanent, cause }: DeliveryFault = {}) {
    super(message, { cause });
    this.name = 'DeliveryError';
    if (status !== undefined) this.status = status;
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
    if (permanent) this.permanent = permanent;
  }
}
