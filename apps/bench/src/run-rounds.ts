import { join } from 'node:path';
import type { Selection } from './args.ts';
import { createProgress } from './progress.ts';
import type { Outcome, ScenarioResult } from './result.ts';
import type { Contender, Scenario } from './scenario.ts';
import type { BenchServices } from './services.ts';
import { summarise } from './statistics.ts';

export interface RoundsOptions {
  readonly rounds: number;
  readonly quick: boolean;
  readonly orders: number | null;
  readonly only: Selection | null;
  readonly services: BenchServices;
  readonly signal: AbortSignal;
  /** A line for a person: what runs, and how each run ended. */
  readonly say: (line: string) => void;
}

interface PlannedRun {
  readonly scenario: Scenario;
  readonly contender: Contender;
  readonly size: number;
  readonly round: number;
}

/**
 * Run scenario after scenario, each in rounds: every contender once, then every contender again. So what is compared
 * with each other ran within a minute or two, whatever the machine does over the hour.
 */
export async function runRounds(all: readonly Scenario[], options: RoundsOptions): Promise<ScenarioResult[]> {
  const chosen = choose(all, options.only);
  const plan = chosen.flatMap((scenario) => planOf(scenario, options));
  const expected = plan.map(({ contender, size }) => contender.seconds(size));
  const progress = createProgress(expected);
  const outcomes = new Map<Contender, Outcome[]>();
  for (const [index, run] of plan.entries()) {
    if (options.signal.aborted) break;
    const what = `${run.scenario.name} ${run.contender.name}, round ${run.round} of ${options.rounds}`;
    options.say(progress.begin(what));
    const { services, signal } = options;
    const dir = join(services.dir, 'runs', `${run.scenario.name}-${run.contender.name}-${run.round}`);
    const outcome = await run.contender.run({ services, signal, dir, size: run.size });
    // What was cut short says nothing.
    if (signal.aborted) break;
    options.say(`  ${describe(outcome)}`);
    outcomes.set(run.contender, [...(outcomes.get(run.contender) ?? []), outcome]);
    progress.end(expected[index] ?? 0);
  }
  return chosen.map(({ name, about, contenders }) => ({
    name,
    about,
    contenders: contenders.map((contender) => summariseRuns(contender, outcomes.get(contender) ?? [])),
  }));
}

function choose(all: readonly Scenario[], only: Selection | null): Scenario[] {
  return all
    .filter(({ name }) => only === null || name === only.scenario)
    .map((scenario) => ({
      ...scenario,
      contenders: scenario.contenders.filter(
        ({ name }) => only === null || only.contenders.length === 0 || only.contenders.includes(name),
      ),
    }));
}

function planOf(scenario: Scenario, { rounds, quick, orders }: RoundsOptions): PlannedRun[] {
  const size = orders ?? (quick ? scenario.size.quick : scenario.size.full);
  return Array.from({ length: rounds }, (_, index) =>
    scenario.contenders.map((contender) => ({ scenario, contender, size, round: index + 1 })),
  ).flat();
}

function summariseRuns({ name, about }: Contender, outcomes: Outcome[]) {
  const measured = outcomes.flatMap((outcome) => (outcome.kind === 'measured' ? [outcome.figures] : []));
  return {
    name,
    about,
    outcomes,
    perSecond: summarise(measured.map(({ perSecond }) => perSecond)) ?? null,
    cpuUsPerOrder: summarise(measured.map(({ cpuUsPerOrder }) => sum(cpuUsPerOrder))) ?? null,
  };
}

function describe(outcome: Outcome): string {
  if (outcome.kind === 'skipped') return `skipped: ${outcome.reason}`;
  if (outcome.kind === 'no-figure') return `NO FIGURE: ${outcome.reasons.join('; ')}`;
  const { orders, perSecond, seconds, cpuUsPerOrder, latenessMs, responseMs } = outcome.figures;
  const cpu = Object.entries(cpuUsPerOrder).map(([name, us]) => `${name} ${us.toFixed(0)}`);
  return [
    `${orders} in ${seconds.toFixed(2)} s: ${perSecond.toFixed(0)}/s`,
    `CPU us per order ${cpu.length === 0 ? 'not measured' : `${sum(cpuUsPerOrder).toFixed(0)} (${cpu.join(', ')})`}`,
    ...(responseMs
      ? [
          `answered p50/p99/max ${[responseMs.p50, responseMs.p99, responseMs.max].map((ms) => ms.toFixed(1)).join('/')} ms`,
        ]
      : []),
    ...(latenessMs ? [`late p50/p99/max ${latenessMs.p50}/${latenessMs.p99}/${latenessMs.max} ms`] : []),
  ].join('; ');
}

function sum(values: Readonly<Record<string, number>>): number {
  return Object.values(values).reduce((total, value) => total + value, 0);
}
