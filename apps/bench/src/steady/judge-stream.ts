import { sleep } from '@lapse/runtime';
import { checkInvariants } from '@lapse/testing';
import { closeLateness, type DueWithin, readLateness } from '../burst/read-lateness.ts';
import type { RunStores } from '../open-stores.ts';
import type { Figures } from '../result.ts';
import type { Sale } from '../sale.ts';

const restMs = 30_000;
const lookEveryMs = 500;

/** None may be early, whenever it is due. */
export async function latenessWithin(
  { mysql }: RunStores,
  { activities }: Sale,
  steady: DueWithin,
): Promise<Pick<Figures, 'latenessMs' | 'early'>> {
  const { early } = await readLateness(mysql, activities);
  const { early: _, ...latenessMs } = await readLateness(mysql, activities, closeLateness, steady);
  return { latenessMs, early };
}

/** All eleven invariants: every process runs, so notices and effects must be done as well. */
export async function judgeStream({ mysqlUrl, redisUrl }: RunStores, orders: number): Promise<string[]> {
  const giveUpAt = performance.now() + restMs;
  for (;;) {
    const { failed, counts } = await checkInvariants({ mysqlUrl, redisUrl, atRest: true });
    const closed = counts.orders.TIMEOUT_CLOSED;
    const faults = [
      ...failed.map(({ id, detail }) => `${id}: ${detail}`),
      ...(closed === orders ? [] : [`orders closed: ${closed} instead of ${orders}`]),
    ];
    if (faults.length === 0 || performance.now() >= giveUpAt) return faults;
    await sleep(lookEveryMs);
  }
}
