import type { Order } from './order.ts';

/** What an attempt has come to. FAILED: the provider refused to begin it. */
export type AttemptState = 'CREATING' | 'OPEN' | 'CAPTURED' | 'CANCELLED' | 'FAILED';

/** Whether its provider has said neither that money came nor that none will. */
export function isUndecided({ state }: { readonly state: AttemptState }): boolean {
  return state === 'CREATING' || state === 'OPEN';
}

/** One try of a buyer to pay, as MySQL holds it. */
export interface PaymentAttempt {
  /** UUID, and the idempotency key of its creation at the provider. */
  readonly id: string;
  readonly orderId: string;
  /** The provider that began it, and alone may settle it. */
  readonly provider: string;
  /** Null while CREATING: the provider may know it, or not. */
  readonly providerRef: string | null;
  readonly amountMinor: number;
  readonly currency: string;
  readonly state: AttemptState;
  readonly payUrl: string | null;
  readonly clientSecret: string | null;
  readonly createdAt: Date;
  /** From then on it is cancelled at the provider: the order's deadline, or at once. */
  readonly settleAt: Date;
  readonly endedAt: Date | null;
  /** Settlements begun. */
  readonly tries: number;
  readonly lastError: string | null;
}

export type OpenAttemptResult =
  /** `attempt` is new, or the one that is open already. */
  | { readonly kind: 'open'; readonly attempt: PaymentAttempt; readonly expiresAt: Date }
  /** An earlier attempt is being cancelled at the provider, for a buyer who wants to cancel: ask again shortly. */
  | { readonly kind: 'settling' }
  /** Paid, closed, or past its deadline: nothing can be paid any more. */
  | { readonly kind: 'not_pending'; readonly order: Order }
  /** The order has had so many attempts that a person should look. */
  | { readonly kind: 'too_many' }
  /** No such order, or another buyer's. */
  | { readonly kind: 'not_found' };

/** What the provider answered to the creation of an attempt. */
export interface ProviderAttempt {
  readonly providerRef: string;
  readonly payUrl: string | null;
  readonly clientSecret: string | null;
}

export interface ClaimOptions {
  /** Only what this provider began. */
  readonly provider: string;
  readonly limit: number;
  /** How long the rows are the caller's; afterwards others may claim them. */
  readonly leaseMs: number;
}
