import type { ScenarioResult } from '../result.ts';
import { ink } from './colours.ts';
import { formatNumber } from './format-number.ts';
import { axis, type Chart } from './render-chart.ts';

export interface GrowthLine {
  readonly scenario: string;
  readonly label: string;
  readonly colour: string;
}

/** How much dearer than at the first level an order may become. */
const allowed = 0.15;

/** What one order costs at each level, beside what it may cost. Undefined when nothing was measured. */
export function growthChart(
  scenarios: readonly ScenarioResult[],
  lines: readonly GrowthLine[],
): Chart | undefined {
  const series = lines.flatMap((line) => {
    const contenders = scenarios.find(({ name }) => name === line.scenario)?.contenders ?? [];
    const points = contenders.flatMap(({ name, cpuUsPerOrder }): [string, number][] =>
      cpuUsPerOrder === null ? [] : [[levelOf(name), cpuUsPerOrder.median]],
    );
    return points.length === 0 ? [] : [{ ...line, points }];
  });
  if (series.length === 0) return undefined;
  return {
    title: 'growth: CPU time of one order, beside more and more that are pending',
    subtitle: `Microseconds of everything together, medians of the rounds. Shaded: up to ${allowed * 100}% more than at the first level.`,
    height: 380,
    option: {
      grid: { left: 70, right: 120, top: 80, bottom: 56 },
      xAxis: {
        type: 'category',
        data: [...new Set(series.flatMap(({ points }) => points.map(([level]) => level)))],
        name: 'orders pending and not due',
        nameLocation: 'middle',
        nameGap: 32,
        nameTextStyle: { color: ink.muted, fontSize: 12 },
        axisLabel: axis.label,
      },
      yAxis: axis.values('', { min: 0, axisLabel: { ...axis.label, formatter: '{value} us' } }),
      series: series.map(({ label, colour, points }) => ({
        type: 'line',
        name: label,
        symbol: 'circle',
        symbolSize: 8,
        color: colour,
        lineStyle: { width: 2.5 },
        label: { show: true, position: 'top', color: colour, formatter: valueText },
        endLabel: { show: true, color: colour, fontSize: 12, formatter: '{a}' },
        data: points,
        markArea: band(points[0]?.[1] ?? 0, colour),
      })),
    },
  };
}

/** "10k" of "pending-10k", "1M" of "pending-1m". */
function levelOf(contender: string): string {
  return contender.slice(contender.lastIndexOf('-') + 1).replace('m', 'M');
}

function valueText({ value }: { readonly value: readonly [string, number] }): string {
  return formatNumber(value[1]);
}

function band(from: number, colour: string): object {
  return {
    silent: true,
    itemStyle: { color: colour, opacity: 0.12 },
    data: [[{ yAxis: from }, { yAxis: from * (1 + allowed) }]],
  };
}
