import { checkInvariants, type InvariantId, type Verdict } from '@lapse/testing';
import { readBooks } from './books.ts';
import { type Faults, judgeLedger } from './judge-ledger.ts';
import { judgeProvider, type ProviderLedger } from './judge-provider.ts';
import type { Ledger } from './ledger.ts';
import type { ChaosServices } from './open-services.ts';

/** Everything that is known at rest. */
export interface Judgement {
  readonly verdict: Verdict;
  readonly faults: Faults;
  readonly orders: number;
  readonly ok: boolean;
}

/** Invariants that say "twice", "early" or "stuck" in their own right, so that the closing line shows them. */
const places: Readonly<Partial<Record<InvariantId, keyof Faults>>> = {
  I1: 'lost',
  I2: 'lost',
  I3: 'lost',
  I5: 'twice',
  I6: 'lost',
  I7: 'early',
  I8: 'stuck',
  I9: 'twice',
  I10: 'twice',
  I11: 'stuck',
};

export async function judge(
  services: Pick<ChaosServices, 'mysqlUrl' | 'redisUrl' | 'rocketmqNamesrv'>,
  ledger: Ledger,
  provider: ProviderLedger,
): Promise<Judgement> {
  const { mysqlUrl, redisUrl, rocketmqNamesrv: namesrv } = services;
  const broker = { namesrv };
  const verdict = await checkInvariants({
    mysqlUrl,
    redisUrl,
    broker,
    atRest: true,
    overdueMs: 0,
    noticeWaitMs: 0,
  });
  const books = await readBooks(mysqlUrl);
  const faults = judgeLedger(ledger, books);
  judgeProvider(provider, books, faults, ledger.paidBackUnknown);
  for (const { id, detail } of verdict.failed) {
    const place = places[id];
    if (place !== undefined) faults[place].push(`${id}: ${detail}`);
  }
  const none = Object.values(faults).every((list) => list.length === 0);
  return { verdict, faults, orders: books.orders.size, ok: verdict.ok && none };
}

/** The exact last line of a run. */
export function closingLine(
  faultsMade: number,
  judgement: Judgement,
  broken: ReadonlyMap<string, string>,
  seed: number,
): string {
  const { verdict, faults, orders } = judgement;
  const total = verdict.checks.length;
  const held = verdict.checks.filter(({ id, ok }) => ok && !broken.has(id)).length;
  return (
    `chaos: faults=${faultsMade} orders=${orders} lost=${faults.lost.length} twice=${faults.twice.length} ` +
    `early=${faults.early.length} stuck=${faults.stuck.length} invariants=${held}/${total} seed=${seed}`
  );
}
