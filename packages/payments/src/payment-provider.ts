/** A payment that the provider has taken from the buyer. */
export interface Capture {
  /** The provider's id of the payment: what a refund names. */
  readonly paymentId: string;
  readonly amountMinor: number;
  /** ISO 4217, upper case. */
  readonly currency: string;
  readonly capturedAt: Date;
}

export interface AttemptRequest {
  /** UUID of the attempt, and the idempotency key of its creation: the same again is the same attempt. */
  readonly attemptId: string;
  /** Comes back in every event of the attempt. */
  readonly orderId: string;
  readonly amountMinor: number;
  readonly currency: string;
}

/** An attempt as the buyer needs it: a page to go to, or a secret for the provider's own form. */
export interface CreatedAttempt {
  readonly providerRef: string;
  readonly payUrl: string | null;
  readonly clientSecret: string | null;
}

/** Money of a capture that is with its buyer again, by whoever's refund. One that failed moved none. */
export interface Returned {
  readonly amountMinor: number;
  /** Our id of the refund, where it was one of ours and no other: by it we are told should it fail after all. */
  readonly refundId: string | null;
  /** The provider's id of it, where it was one alone. */
  readonly refundRef: string | null;
}

/**
 * What an attempt has come to. `processing`: it could not be decided yet, or money of it is on its way back and may
 * still stay; ask again.
 */
export type AttemptStatus =
  | { readonly kind: 'processing' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'captured'; readonly capture: Capture; readonly returned: Returned | null };

export interface RefundRequest {
  /** UUID of the intent, and its idempotency key: however often it is sent, money goes back once. */
  readonly refundId: string;
  readonly paymentId: string;
  readonly amountMinor: number;
  readonly currency: string;
}
/**
 * `pending`: accepted, and the provider will carry it out by itself. `failed`: it had been accepted, and could not be
 * carried out; under this id it never will be.
 */
export type RefundAnswer =
  | { readonly kind: 'refunded' | 'pending'; readonly refundRef: string }
  | { readonly kind: 'failed'; readonly refundRef: string; readonly reason: string | null };

/** A webhook as it came: its bytes as text, for parsing and writing them again would change what was signed. */
export interface SignedRequest {
  readonly rawBody: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** A webhook whose signature and time are good. Events that mean nothing to an order are `other`. */
export type ProviderEvent =
  | {
      readonly kind: 'captured' | 'failed';
      readonly eventId: string;
      readonly orderId: string;
      readonly providerRef: string;
      readonly paymentId: string;
      readonly amountMinor: number;
      readonly currency: string;
      readonly occurredAt: Date;
    }
  /** A refund that had been accepted will not arrive. */
  | {
      readonly kind: 'refund_failed';
      readonly eventId: string;
      readonly paymentId: string;
      /** Our id of the refund. */
      readonly refundId: string;
      readonly refundRef: string | null;
      readonly reason: string | null;
      readonly occurredAt: Date;
    }
  | { readonly kind: 'other'; readonly eventId: string; readonly type: string };

/**
 * A payment provider. Every call is idempotent by the id that it is given, so that an answer that was lost is
 * asked again. Each call ends within the configured timeout, all requests that it is made of
 * included, and what it answers fits into MySQL: `boundProvider` sees to both.
 * @throws {ProviderUnavailableError} no answer, or one that says "later": nothing is known, ask again.
 * @throws {ProviderRefusedError} the provider will never do it; the message says why.
 */
export interface PaymentProvider {
  /** Kept with each attempt and payment, so that it is settled by the provider that began it. */
  readonly name: string;
  createAttempt(request: AttemptRequest): Promise<CreatedAttempt>;
  /** Make sure that the attempt never captures from now on, unless it has already: the answer is what it has come to. */
  cancelAttempt(providerRef: string): Promise<AttemptStatus>;
  refund(request: RefundRequest): Promise<RefundAnswer>;
  /**
   * @returns undefined when the signature is not good, or its time is more than five minutes away.
   * @throws {WebhookBodyError} the signature is good, and the body is not what was agreed.
   */
  verifyWebhook(request: SignedRequest): ProviderEvent | undefined;
  close(): Promise<void>;
}
