import { refundFailedWebhookBody } from '@lapse/contracts';
import type { AttemptStatus, Capture, Returned } from './payment-provider.ts';

/** A refund of the captured payment, as the provider has it now. */
export interface KnownRefund {
  readonly state: 'pending' | 'refunded' | 'failed';
  readonly amountMinor: number;
  /** What the provider was told of whose refund it is; one made by hand there may say anything, or nothing. */
  readonly refundId: unknown;
  readonly refundRef: string;
}

const refundIdForm = refundFailedWebhookBody.shape.data.shape.refundId;

/**
 * What a capture means with its refunds. Money that went back pays nothing; to whoever has lost its own note of the
 * refund, a shop put back to a backup, the capture alone would look like money.
 */
export function statusOfCapture(capture: Capture, refunds: readonly KnownRefund[]): AttemptStatus {
  if (refunds.some(({ state }) => state === 'pending')) return { kind: 'processing' };
  const made = refunds.filter(({ state }) => state === 'refunded');
  return { kind: 'captured', capture, returned: made.length === 0 ? null : sumOf(made) };
}

function sumOf(made: readonly KnownRefund[]): Returned {
  const amountMinor = made.reduce((sum, refund) => sum + refund.amountMinor, 0);
  const [only] = made.length === 1 ? made : [];
  const refundId = refundIdForm.safeParse(only?.refundId);
  return { amountMinor, refundId: refundId.data ?? null, refundRef: only?.refundRef ?? null };
}
