import { sleep } from '@lapse/runtime';
import type { ApiClient } from './api-client.ts';
import { type BuyerPlan, liveAsBuyer } from './buyer.ts';
import type { Ledger } from './ledger.ts';
import { workAsOperator } from './operator.ts';
import type { Random } from './random.ts';

export interface LoadOptions {
  readonly api: ApiClient;
  readonly ledger: Ledger;
  readonly random: Random;
  readonly closing: AbortSignal;
  readonly giveUp: AbortSignal;
}

/** Short lives, so that a run of two minutes sees each place sold several times. */
const windows = {
  ...{ remindAfterMs: 4_000, payWithinMs: 8_000, paymentGraceMs: 5_000, currency: 'CNY' },
} as const;
const sales = [
  // Few places and a pool of buyers who come back: places return and sell again, users hold one at a time.
  {
    share: 0.45,
    users: 120,
    body: {
      ...windows,
      name: 'hot',
      capacity: 25,
      priceMinor: 500,
      quantityMax: 2,
      latePaymentPolicy: 'reacquire',
    },
  },
  {
    share: 0.35,
    users: 0,
    body: { ...windows, name: 'wide', capacity: 100_000, priceMinor: 900, quantityMax: 4 },
  },
  {
    share: 0.2,
    users: 40,
    body: { ...windows, name: 'small', capacity: 8, priceMinor: 100, quantityMax: 1 },
  },
] as const;
const does: readonly (readonly [BuyerPlan['does'], number])[] = [
  ['lapse', 0.35],
  ['pay-at-provider', 0.25],
  ['pay', 0.08],
  ['cancel', 0.11],
  ['pay-twice', 0.06],
  ['pay-at-deadline', 0.07],
  ['pay-late', 0.06],
  ['pay-wrong', 0.04],
];
const arrivalMs = { from: 10, to: 110 } as const;
/**
 * While nothing answers no more come than this: every one of them asks again twice a second, and the links of the
 * harness run in the same process as they do.
 */
const buyingMax = 40;

/** Buyers arrive until `closing`; resolves when the last of them is done. */
export async function runLoad(options: LoadOptions): Promise<void> {
  const { api, random, closing } = options;
  const ids: number[] = [];
  for (const { body } of sales) ids.push((await api.createActivity(body)).id);
  let buying = 0;
  const buyers: Promise<void>[] = [workAsOperator(options, ids[0] ?? 0)];
  for (let number = 1; !closing.aborted; number += 1) {
    buying += 1;
    const onBought = (): void => {
      buying -= 1;
    };
    buyers.push(liveAsBuyer({ ...options, onBought }, planBuyer(random, ids, number)));
    while (buying >= buyingMax && !closing.aborted) await sleep(arrivalMs.to, closing);
    await sleep(random.whole(arrivalMs.from, arrivalMs.to), closing);
  }
  await Promise.all(buyers);
}

function planBuyer(random: Random, ids: readonly number[], number: number): BuyerPlan {
  const at = indexOfShare(
    random,
    sales.map(({ share }) => share),
  );
  const sale = sales[at] ?? sales[0];
  return {
    user:
      sale.users === 0 ? `buyer ${number}` : `regular ${random.whole(1, sale.users)} of ${sale.body.name}`,
    activityId: ids[at] ?? 0,
    quantity: random.whole(1, sale.body.quantityMax),
    does:
      does[
        indexOfShare(
          random,
          does.map(([, share]) => share),
        )
      ]?.[0] ?? 'lapse',
    thinkShare: random.next() * 0.95,
  };
}

function indexOfShare(random: Random, shares: readonly number[]): number {
  let left = random.next() * shares.reduce((sum, share) => sum + share, 0);
  const at = shares.findIndex((share) => {
    left -= share;
    return left < 0;
  });
  return at === -1 ? shares.length - 1 : at;
}
