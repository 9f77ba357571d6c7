import type { ProviderLedger } from '../judge-provider.ts';

type Capture = ProviderLedger['captures'][number];

export interface ChosenCaptures {
  /** Money that the provider has, and the shop's books have not. */
  readonly toTell: readonly Capture[];
  /** Unknown to the shop as well, and on its way back or there: it buys nothing any more. */
  readonly paidBack: readonly Capture[];
}

/**
 * What a shop whose books are a backup is told once more. A capture with a refund is left out: its order is perhaps
 * PENDING again, and would be PAID by money that its buyer has back. A refund that failed moved nothing.
 */
export function chooseCaptures(
  { captures, refunds }: Pick<ProviderLedger, 'captures' | 'refunds'>,
  known: ReadonlySet<string>,
): ChosenCaptures {
  const refunded = new Set(
    refunds.filter(({ state }) => state !== 'failed').map(({ paymentId }) => paymentId),
  );
  const unknown = captures.filter(({ paymentId }) => !known.has(paymentId));
  return {
    toTell: unknown.filter(({ paymentId }) => !refunded.has(paymentId)),
    paidBack: unknown.filter(({ paymentId }) => refunded.has(paymentId)),
  };
}
