import { type Goal, goalsFor } from './goals.ts';
import type { BenchResult } from './result.ts';
import type { Summary } from './statistics.ts';

export interface JudgedGoal extends Omit<Goal, 'read' | 'readBare'> {
  readonly measured: Summary | null;
  /** What the bare work has; null where there is none to compare with. */
  readonly bare: Summary | null;
  readonly verdict: 'yes' | 'no' | 'not measured';
}

/** Every goal with what this run measured: whether it holds is decided by the median of the rounds. */
export function judgeGoals({ machine, scenarios }: Pick<BenchResult, 'machine' | 'scenarios'>): JudgedGoal[] {
  return goalsFor(machine.cores).map(({ read, readBare, ...goal }) => {
    const measured = read(scenarios) ?? null;
    const bare = readBare?.(scenarios) ?? null;
    if (measured === null) return { ...goal, measured, bare, verdict: 'not measured' };
    return { ...goal, measured, bare, verdict: holds(measured.median, goal.bound) ? 'yes' : 'no' };
  });
}

function holds(median: number, bound: Goal['bound']): boolean {
  return 'atLeast' in bound ? median >= bound.atLeast : median <= bound.atMost;
}
