import { markdownTable } from 'markdown-table';
import { type JudgedGoal, judgeGoals } from '../judge-goals.ts';
import type { BenchResult } from '../result.ts';
import { formatNumber } from './format-number.ts';

/**
 * The goals, and beside some what the bare work has without a product around it: a table, in Markdown that also reads well
 * in a terminal.
 * @param measuredOnly leaves out what this run did not measure. Empty when nothing is left.
 */
export function goalTable(
  result: Pick<BenchResult, 'machine' | 'scenarios'>,
  { measuredOnly = false } = {},
): string {
  const goals = judgeGoals(result).filter(({ measured }) => !measuredOnly || measured !== null);
  if (goals.length === 0) return '';
  const head = ['work', 'figure', 'goal', 'median', 'lowest - highest round', 'met', 'bare work'];
  return markdownTable([head, ...goals.map(rowOf)], { align: ['l', 'l', 'r', 'r', 'r', 'l', 'r'] });
}

function rowOf({ work, figure, unit, bound, measured, bare, verdict }: JudgedGoal): string[] {
  const withUnit = (value: number): string =>
    `${formatNumber(value)}${unit === 'x' || unit === '' ? unit : ` ${unit}`}`;
  const goal = 'atLeast' in bound ? `>= ${withUnit(bound.atLeast)}` : `<= ${withUnit(bound.atMost)}`;
  const spread = measured && `${formatNumber(measured.min)} - ${formatNumber(measured.max)}`;
  const [median, bareMedian] = [measured, bare].map((summary) => (summary ? withUnit(summary.median) : ''));
  return [work, figure, goal, median ?? '', spread ?? '', verdict, bareMedian ?? ''];
}
