import { measuredFigures } from '../outcomes.ts';
import type { Figures, ScenarioResult } from '../result.ts';
import { ink, processColour, services } from './colours.ts';
import { megabytes } from './format-number.ts';
import { axis, type Chart } from './render-chart.ts';

export interface MemoryChartOptions {
  readonly title: string;
  readonly contender: string;
  readonly goalMegabytes?: number;
}

/**
 * Resident memory of a contender's own processes, in the round with the highest peak. That of the services is what they
 * are configured to cache, not what the work needs. Undefined when nothing was measured.
 */
export function memoryChart(scenario: ScenarioResult, options: MemoryChartOptions): Chart | undefined {
  const { title, contender, goalMegabytes } = options;
  const outcomes = scenario.contenders.find(({ name }) => name === contender)?.outcomes ?? [];
  const [highest] = measuredFigures(outcomes).toSorted((a, b) => peakOf(b) - peakOf(a));
  const lines = Object.entries(highest?.rssOverTime ?? {}).filter(([name]) => !services.includes(name));
  if (lines.length === 0) return undefined;
  return {
    title,
    subtitle: 'Resident memory of its processes while it is measured, in the round with the highest peak.',
    height: 340,
    option: {
      grid: { left: 70, right: 110, top: 80, bottom: 56 },
      xAxis: axis.values('seconds', { splitLine: { show: false } }),
      yAxis: axis.values('', {
        min: 0,
        ...(goalMegabytes !== undefined && {
          max: ({ max }: { max: number }) => niceAbove(Math.max(max, goalMegabytes)),
        }),
        axisLabel: { ...axis.label, formatter: '{value} MB' },
      }),
      series: lines.map(([name, points], index) => ({
        type: 'line',
        name,
        symbol: 'none',
        color: processColour(name),
        lineStyle: { width: 2.5 },
        endLabel: { show: true, formatter: '{a}', color: processColour(name), fontSize: 12 },
        labelLayout: { moveOverlap: 'shiftY' },
        data: points.map(([seconds, bytes]) => [seconds, megabytes(bytes)]),
        ...(index === 0 && goalMegabytes !== undefined && { markLine: goalLine(goalMegabytes) }),
      })),
    },
  };
}

function peakOf({ rssPeakBytes }: Figures): number {
  const own = Object.entries(rssPeakBytes).flatMap(([name, bytes]) => (services.includes(name) ? [] : bytes));
  return Math.max(0, ...own);
}

const step = 50;

function niceAbove(megabytesMax: number): number {
  return Math.ceil((megabytesMax * 1.05) / step) * step;
}

function goalLine(goalMegabytes: number): object {
  return {
    silent: true,
    symbol: 'none',
    data: [{ yAxis: goalMegabytes }],
    lineStyle: { color: ink.goal, type: 'dashed', width: 1.5 },
    label: {
      formatter: `goal: at most ${goalMegabytes} MB`,
      color: ink.goal,
      fontSize: 12,
      position: 'insideStartTop',
    },
  };
}
