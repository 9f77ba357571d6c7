import { ratesByRound } from '../outcomes.ts';
import type { ScenarioResult } from '../result.ts';
import { ratioByRound, type Summary } from '../statistics.ts';

/** How many times as fast as another of its scenario, compared within each round. Undefined of itself, and where one is missing. */
export function rateRatio(
  { contenders }: ScenarioResult,
  contender: string,
  base: string,
): Summary | undefined {
  if (contender === base) return undefined;
  const rates = (wanted: string) =>
    ratesByRound(contenders.find(({ name }) => name === wanted)?.outcomes ?? []);
  return ratioByRound(rates(contender), rates(base));
}
