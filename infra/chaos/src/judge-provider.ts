import type { SimulatorLedger } from '@lapse/contracts';
import type { Books } from './books.ts';
import type { Faults } from './judge-ledger.ts';

export interface ProviderLedger extends Pick<SimulatorLedger, 'captures' | 'refunds' | 'waiting'> {}

/**
 * The provider's own account against the shop's: every capture ended as a paid order, as one refund, or in
 * quarantine because it was not what the order asked for; and no money went back that the shop keeps.
 * @param paidBackUnknown payments that the shop may not know, for it refunded them and then lost its books.
 */
export function judgeProvider(
  { captures, refunds, waiting }: ProviderLedger,
  books: Books,
  faults: Faults,
  paidBackUnknown: ReadonlySet<string> = new Set(),
): void {
  const rows = new Map(books.payments.map((payment) => [payment.paymentId, payment]));
  for (const { paymentId, orderId, amountMinor, currency } of captures) {
    const name = `capture ${paymentId} of order ${orderId}`;
    const order = books.orders.get(orderId);
    const state = rows.get(paymentId)?.state ?? (paidBackUnknown.has(paymentId) ? 'REFUNDED' : undefined);
    const paidBack = refunds.filter((refund) => refund.paymentId === paymentId && refund.state !== 'failed');
    if (paidBack.length > 1) faults.twice.push(`${name} was paid back ${paidBack.length} times`);
    if (state === undefined) faults.lost.push(`${name} is unknown to the shop`);
    else if (state === 'CAPTURED') {
      if (order?.status !== 'PAID') faults.lost.push(`${name} is kept, and the order is ${order?.status}`);
      if (paidBack.length > 0) faults.twice.push(`${name} is kept, and was paid back`);
    } else if (state === 'REFUNDED') {
      // Of a free order there is nothing to pay back.
      if (amountMinor === 0) continue;
      if (paidBack[0]?.state !== 'refunded') faults.lost.push(`${name} counts as paid back, and was not`);
      else if (paidBack[0].amountMinor !== amountMinor) faults.lost.push(`${name} was paid back in part`);
    } else if (state === 'QUARANTINED') {
      const right = order?.amountMinor === amountMinor && order.currency === currency;
      if (right) faults.stuck.push(`${name} is in quarantine, and is what was asked for`);
    } else faults.stuck.push(`${name} is ${state}`);
  }
  for (const [what, count] of Object.entries(waiting)) {
    if (count > 0) faults.stuck.push(`the provider still has ${count} ${what} to come`);
  }
}
