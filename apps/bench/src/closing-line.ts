import { measuredFigures, outcomesOf, ratesByRound } from './outcomes.ts';
import type { Outcome, ScenarioResult } from './result.ts';
import { ratioByRound } from './statistics.ts';

const none = 'n/a';

/** The last line, for people and scripts. Ratios are those of rates; n/a for what did not run or was not exact. */
export function closingLine(scenarios: readonly ScenarioResult[]): string {
  const close = (base: string): string => ratio(scenarios, 'close-burst', base);
  const create = (base: string): string => ratio(scenarios, 'create', base);
  return [
    'bench:',
    `close_vs_limit=${close('limit')}`,
    `close_vs_seed=${close('seed')}`,
    `close_vs_bullmq=${close('bullmq')}`,
    `create_vs_limit=${create('limit')}`,
    `create_vs_seed=${create('seed')}`,
    `lateness_p99_ms=${lateness(scenarios)}`,
    `early=${early(scenarios)}`,
    ...namesOf(scenarios, 'no-figure', 'no_figure'),
    ...namesOf(scenarios, 'skipped', 'skipped'),
  ].join(' ');
}

/** How many times as fast Lapse is as the other. */
function ratio(scenarios: readonly ScenarioResult[], scenario: string, base: string): string {
  const rates = (name: string): (number | undefined)[] => ratesByRound(outcomesOf(scenarios, scenario, name));
  return ratioByRound(rates('lapse'), rates(base))?.median.toFixed(2) ?? none;
}

/** The worst round counts, in steady load. */
function lateness(scenarios: readonly ScenarioResult[]): string {
  const p99 = measuredFigures(outcomesOf(scenarios, 'steady', 'lapse')).flatMap(
    ({ latenessMs }) => latenessMs?.p99 ?? [],
  );
  return p99.length === 0 ? none : Math.max(...p99).toFixed(0);
}

function early(scenarios: readonly ScenarioResult[]): string {
  const counts = ['close-burst', 'steady'].flatMap((name) =>
    measuredFigures(outcomesOf(scenarios, name, 'lapse')).map((figures) => figures.early),
  );
  return counts.length === 0 ? none : String(counts.reduce((sum, count) => sum + count, 0));
}

/** What was not exact, or could not run here, is named: nobody should have to look for it. */
function namesOf(scenarios: readonly ScenarioResult[], kind: Outcome['kind'], label: string): string[] {
  const names = scenarios.flatMap(({ name, contenders }) =>
    contenders
      .filter(({ outcomes }) => outcomes.some((outcome) => outcome.kind === kind))
      .map((contender) => `${name}/${contender.name}`),
  );
  return names.length === 0 ? [] : [`${label}=${names.join(',')}`];
}
