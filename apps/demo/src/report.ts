import type { Tally } from '@lapse/sale-player';
import type { Verdict } from '@lapse/testing';

/** Whether the demo may end well: every invariant holds, nothing is open, and no buyer saw a wrong answer. */
export function saleHolds(verdict: Verdict, tally: Tally): boolean {
  const { orders, parked } = verdict.counts;
  const { doubled, unexpected } = tally.counts;
  return (
    verdict.ok &&
    orders.PENDING === 0 &&
    parked.orders === 0 &&
    verdict.lateness.early === 0 &&
    refundsPaid(verdict, tally) &&
    doubled === 0 &&
    unexpected.length === 0
  );
}

/** Whether the provider has taken a refund for everyone who paid too late, and for nobody else. */
export function refundsPaid({ counts: { payments } }: Verdict, tally: Tally): boolean {
  const { REFUND_PENDING: due = 0, REFUND_FAILED: failed = 0, REFUNDED: paidBack = 0 } = payments;
  return due === 0 && failed === 0 && paidBack === tally.counts.lateRefunds;
}

/** The table under a sale: what buyers saw beside what the stores hold, then the invariants. */
export function renderReport(verdict: Verdict, tally: Tally): string {
  const { counts, lateness, checks } = verdict;
  const seen = tally.counts;
  const rows: [string, string | number, string][] = [
    [
      'orders created',
      total(counts.orders),
      `${seen.doubleClicks} buyers clicked several times; orders doubled: ${seen.doubled}`,
    ],
    ['refused', seen.refused, [...seen.refusals].map(([code, count]) => `${code} ${count}`).join(', ')],
    ['reminded', reminded(counts.notifications), 'notices sent, or skipped because the buyer paid meanwhile'],
    ['paid', counts.orders.PAID, `${counts.units.paid} places sold`],
    [
      'paid too late',
      seen.lateRefunds,
      `arrived after the close; ${counts.payments.REFUNDED ?? 0} paid back by the provider`,
    ],
    ['cancelled', counts.orders.CANCELLED, ''],
    ['closed', counts.orders.TIMEOUT_CLOSED, 'unpaid at their deadline'],
    ['places back', counts.units.credited, `${counts.units.available} of ${counts.units.capacity} free now`],
    [
      'lateness',
      `${lateness.p50} / ${lateness.p99} / ${lateness.max} ms`,
      `p50 / p99 / max; early ${lateness.early}`,
    ],
  ];
  const lines = rows.map(([name, value, note]) =>
    `  ${name.padEnd(15)} ${String(value).padStart(16)}   ${note}`.trimEnd(),
  );
  const verdictLines = checks.map(({ id, ok, detail, orderIds }) =>
    [
      `  ${ok ? 'holds' : 'FAILS'}  ${id.padEnd(3)}  ${detail}`,
      ...orderIds.map((id) => `              ${id}`),
    ].join('\n'),
  );
  const wrong = seen.unexpected.map((what) => `  unexpected: ${what}`);
  return ['', ...lines, '', ...verdictLines, ...wrong, ''].join('\n');
}

/** The last line, for people and scripts. */
export function closingLine({ counts, lateness, checks, failed }: Verdict): string {
  return (
    `demo: orders=${total(counts.orders)} paid=${counts.orders.PAID} closed=${counts.orders.TIMEOUT_CLOSED} ` +
    `lateness_p99_ms=${lateness.p99} early=${lateness.early} invariants=${checks.length - failed.length}/${checks.length}`
  );
}

function total(orders: Verdict['counts']['orders']): number {
  return Object.values(orders).reduce((sum, count) => sum + count, 0);
}

function reminded(notifications: Verdict['counts']['notifications']): number {
  return (notifications['REMINDER SENT'] ?? 0) + (notifications['REMINDER SKIPPED'] ?? 0);
}
