import { idFromBytes } from './binary-id.ts';
import type { AttemptState, PaymentAttempt } from './payment-attempt.ts';

/** The columns that `toAttempt` reads. */
export const attemptColumns =
  'id, order_id, provider, provider_ref, amount_minor, currency, state, pay_url, client_secret, created_at,' +
  ' settle_at, ended_at, tries, last_error';

/** An attempt that may still capture money. Part of SQL. */
export const attemptIsOpen = "state IN ('CREATING', 'OPEN')";

export interface AttemptRow {
  readonly id: Buffer;
  readonly order_id: Buffer;
  readonly provider: string;
  readonly provider_ref: Buffer | null;
  readonly amount_minor: number;
  readonly currency: string;
  readonly state: AttemptState;
  readonly pay_url: string | null;
  readonly client_secret: string | null;
  readonly created_at: Date;
  readonly settle_at: Date;
  readonly ended_at: Date | null;
  readonly tries: number;
  readonly last_error: string | null;
}

export function toAttempt(row: AttemptRow): PaymentAttempt {
  return {
    id: idFromBytes(row.id),
    orderId: idFromBytes(row.order_id),
    provider: row.provider,
    providerRef: row.provider_ref?.toString() ?? null,
    amountMinor: row.amount_minor,
    currency: row.currency,
    state: row.state,
    payUrl: row.pay_url,
    clientSecret: row.client_secret,
    createdAt: row.created_at,
    settleAt: row.settle_at,
    endedAt: row.ended_at,
    tries: row.tries,
    lastError: row.last_error,
  };
}
