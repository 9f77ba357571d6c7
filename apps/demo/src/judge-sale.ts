import { setTimeout as sleep } from 'node:timers/promises';
import type { Tally } from '@lapse/sale-player';
import { checkInvariants, type Verdict } from '@lapse/testing';
import type { DemoConfig } from './demo-config.ts';
import { refundsPaid } from './report.ts';

/** How long after the last deadline the books may take to come to rest: a sweep with its grace, twice. */
const restWithinMs = 60_000;
const lookEveryMs = 1_000;

/**
 * Ask the oracle until the sale is at rest, every invariant holds and all late money is paid back, or time is up; the
 * last verdict counts. It looks at this sale's activities alone, so that a system with other sales can be judged.
 */
export async function judgeSale(
  config: DemoConfig,
  activityIds: readonly number[],
  tally: Tally,
): Promise<Verdict> {
  await sleep(Math.max(0, tally.counts.lastDeadline - Date.now()));
  const giveUpAt = Date.now() + restWithinMs;
  for (;;) {
    const verdict = await checkInvariants({
      mysqlUrl: config.mysqlUrl,
      redisUrl: config.redisUrl,
      activityIds,
      atRest: true,
      noticeWaitMs: 0,
      overdueMs: 0,
    });
    const settled = verdict.ok && verdict.counts.orders.PENDING === 0 && refundsPaid(verdict, tally);
    if (settled || Date.now() >= giveUpAt) return verdict;
    await sleep(lookEveryMs);
  }
}
