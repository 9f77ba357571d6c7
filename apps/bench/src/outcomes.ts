import type { Figures, Outcome, ScenarioResult } from './result.ts';

/** Every outcome of a contender, in the order of the rounds; none when it did not run. */
export function outcomesOf(
  results: readonly ScenarioResult[],
  scenario: string,
  contender: string,
): readonly Outcome[] {
  const found = results.find(({ name }) => name === scenario);
  return found?.contenders.find(({ name }) => name === contender)?.outcomes ?? [];
}

/** Figures of the rounds that have some. */
export function measuredFigures(outcomes: readonly Outcome[]): Figures[] {
  return outcomes.flatMap((outcome) => (outcome.kind === 'measured' ? [outcome.figures] : []));
}

/** The rate of every round; undefined where a round has none, so that rounds of two contenders can be compared. */
export function ratesByRound(outcomes: readonly Outcome[]): (number | undefined)[] {
  return outcomes.map((outcome) => (outcome.kind === 'measured' ? outcome.figures.perSecond : undefined));
}
