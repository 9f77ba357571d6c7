import { type SimulatorLedger, simulatorLedger } from '@lapse/contracts';
import type { ProviderLedger } from './judge-provider.ts';

const timeoutMs = 10_000;

/** All money that moved at the simulator. @throws when it does not answer. */
export async function readProvider(providerUrl: string, apiKey: string): Promise<ProviderLedger> {
  const captures: SimulatorLedger['captures'] = [];
  const refunds: SimulatorLedger['refunds'] = [];
  for (let after: number | null = 0; ; ) {
    const response = await fetch(`${providerUrl}/v1/ledger?after=${after}&limit=10000`, {
      headers: { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.timeout(timeoutMs),
    });
    const page: SimulatorLedger = simulatorLedger.parse(await response.json());
    captures.push(...page.captures);
    refunds.push(...page.refunds);
    after = page.next;
    if (after === null) return { captures, refunds, waiting: page.waiting };
  }
}
