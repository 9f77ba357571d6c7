import { join } from 'node:path';
import type { Selection } from './args.ts';
import { describeOutcome } from './describe-outcome.ts';
import { createProgress, type ExpectedRun } from './progress.ts';
import type { Outcome, ScenarioResult } from './result.ts';
import type { Contender, Scenario } from './scenario.ts';
import type { BenchServices } from './services.ts';
import { summarise } from './statistics.ts';

export interface RoundsOptions {
  /** Instead of each scenario's own. */
  readonly rounds: number | null;
  readonly quick: boolean;
  /** Instead of each scenario's own. */
  readonly orders: number | null;
  /** Null: all. */
  readonly only: readonly Selection[] | null;
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

const roundsOf = { full: 3, quick: 1 } as const;

/**
 * Run scenario after scenario, each in rounds: every contender once, then every contender again. So what is compared
 * with each other ran within a minute or two, whatever the machine does over the hour. Those that no goal is measured
 * against run once.
 */
export async function runRounds(all: readonly Scenario[], options: RoundsOptions): Promise<ScenarioResult[]> {
  const chosen = choose(all, options.only);
  const plan = planRuns(chosen, options);
  const progress = createProgress(plan.map(expectedOf));
  const outcomes = new Map<Contender, Outcome[]>();
  for (const run of plan) {
    if (options.signal.aborted) break;
    const what = `${run.scenario.name} ${run.contender.name}, round ${run.round} of ${countRounds(run.scenario, options)}`;
    options.say(progress.begin(what));
    const { services, signal } = options;
    const dir = join(services.dir, 'runs', `${run.scenario.name}-${run.contender.name}-${run.round}`);
    const outcome = await run.contender.run({ services, signal, dir, size: run.size });
    // What was cut short says nothing.
    if (signal.aborted) break;
    options.say(`  ${describeOutcome(outcome)}`);
    outcomes.set(run.contender, [...(outcomes.get(run.contender) ?? []), outcome]);
    progress.end();
  }
  return chosen.map((scenario) => ({
    name: scenario.name,
    about: scenario.about,
    rounds: countRounds(scenario, options),
    contenders: scenario.contenders.map((contender) =>
      summariseRuns(contender, outcomes.get(contender) ?? []),
    ),
  }));
}

function choose(all: readonly Scenario[], only: readonly Selection[] | null): readonly Scenario[] {
  if (only === null) return all;
  return all.flatMap((scenario) => {
    const wanted = only.filter((selection) => selection.scenario === scenario.name);
    if (wanted.length === 0) return [];
    const isWanted = (name: string): boolean =>
      wanted.some(({ contenders }) => contenders.length === 0 || contenders.includes(name));
    return [{ ...scenario, contenders: scenario.contenders.filter(({ name }) => isWanted(name)) }];
  });
}

type PlanOptions = Pick<RoundsOptions, 'rounds' | 'quick' | 'orders'>;

function planRuns(chosen: readonly Scenario[], options: PlanOptions): PlannedRun[] {
  const { quick, orders, rounds } = options;
  return chosen.flatMap((scenario) => {
    const size = orders ?? (quick ? scenario.size.quick : scenario.size.full);
    return Array.from({ length: countRounds(scenario, options) }, (_, index) => index + 1).flatMap((round) =>
      scenario.contenders
        .filter(({ roundsMax = round }) => rounds !== null || round <= roundsMax)
        .map((contender) => ({ scenario, contender, size, round })),
    );
  });
}

function countRounds(scenario: Scenario, { rounds, quick }: PlanOptions): number {
  return rounds ?? (quick ? roundsOf.quick : (scenario.rounds ?? roundsOf.full));
}

function expectedOf({ scenario, contender, size }: PlannedRun): ExpectedRun {
  return { name: `${scenario.name}/${contender.name}`, seconds: contender.seconds(size) };
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

function sum(values: Readonly<Record<string, number>>): number {
  return Object.values(values).reduce((total, value) => total + value, 0);
}
