import type { ProblemCode } from '@lapse/contracts';

/** Why something was refused, beside the code. Everything here is public: no error text from inside. */
export interface Problem {
  readonly code: ProblemCode;
  /** Default: the advice of the catalogue. */
  readonly detail?: string;
  readonly errors?: readonly FieldFault[];
  /** The order that holds the place, with ALREADY_HOLDING. */
  readonly orderId?: string;
  /** The sale window, with NOT_ON_SALE. */
  readonly saleStartsAt?: string | null;
  readonly saleEndsAt?: string | null;
  /** Since when, with SALE_PAUSED. */
  readonly salePausedAt?: string;
  /** Since when, with ACTIVITY_ARCHIVED. */
  readonly archivedAt?: string;
  /** The capacity as it is, and the places held and sold, with CAPACITY_BELOW_SOLD. */
  readonly capacity?: number;
  readonly taken?: number;
  /** The deadline as it is, with DEADLINE_NOT_LATER; the last one possible, with DEADLINE_TOO_LATE. */
  readonly expiresAt?: string;
  readonly latestExpiresAt?: string;
  /** With 503 and 429 always, 1 unless said; with another status only where it is said. */
  readonly retryAfterSeconds?: number;
}

/** One wrong field, as a path from the part of the request: `body.quantity`. */
export interface FieldFault {
  readonly field: string;
  readonly message: string;
}
