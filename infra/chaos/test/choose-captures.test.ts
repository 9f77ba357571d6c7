import { expect, test } from 'vitest';
import { chooseCaptures } from '../src/drills/choose-captures.ts';
import type { ProviderLedger } from '../src/judge-provider.ts';

const at = '2030-01-01T00:00:00.000Z';
const capture = (paymentId: string): ProviderLedger['captures'][number] => ({
  ...{ paymentId, orderId: `order of ${paymentId}`, amountMinor: 5, currency: 'CNY' },
  ...{ providerRef: `r-${paymentId}`, capturedAt: at },
});
const refund = (paymentId: string, state: 'pending' | 'refunded' | 'failed') => ({
  ...{ refundRef: `re-${paymentId}`, refundId: null, paymentId, amountMinor: 5, currency: 'CNY' },
  ...{ state, requestedAt: at },
});

test('after a restore the shop is told of money that it does not know, never of money that went back', () => {
  const captures = ['known', 'new', 'back', 'going back', 'refund failed'].map(capture);
  const refunds = [
    refund('back', 'refunded'),
    refund('going back', 'pending'),
    refund('refund failed', 'failed'),
  ];
  const { toTell, paidBack } = chooseCaptures({ captures, refunds }, new Set(['known']));
  expect(toTell.map(({ paymentId }) => paymentId)).toEqual(['new', 'refund failed']);
  expect(paidBack.map(({ paymentId }) => paymentId)).toEqual(['back', 'going back']);
});
