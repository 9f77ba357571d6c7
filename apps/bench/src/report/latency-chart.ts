import type { Latencies } from '../latencies.ts';
import { measuredFigures } from '../outcomes.ts';
import type { ScenarioResult } from '../result.ts';
import { contenderLook, ink } from './colours.ts';
import { formatNumber } from './format-number.ts';
import { axis, type Chart } from './render-chart.ts';

export interface LatencyChartOptions {
  readonly title: string;
  readonly subtitle: string;
  readonly axisName: string;
  readonly field: 'latenessMs' | 'responseMs';
  /** Milliseconds that 99% are to stay below. */
  readonly goalMs?: number;
}

/** The database clock's step: what took less is drawn here, as a logarithm has no zero. */
const lowestMs = 1;
const lineHeight = 22;

interface Line {
  readonly name: string;
  readonly latencies: Latencies;
}

/**
 * Which share took at most so long, for each contender: of the round in the middle by its 99th percentile.
 * Undefined when nothing was measured.
 */
export function latencyChart(scenario: ScenarioResult, options: LatencyChartOptions): Chart | undefined {
  const lines = scenario.contenders
    .flatMap(({ name, outcomes }): Line[] => {
      const latencies = middleRound(measuredFigures(outcomes).flatMap((each) => each[options.field] ?? []));
      return latencies === undefined ? [] : [{ name, latencies }];
    })
    .toSorted((a, b) => a.latencies.p99 - b.latencies.p99);
  if (lines.length === 0) return undefined;
  const { title, subtitle, axisName, goalMs } = options;
  const lowest = Math.min(...lines.map(({ latencies }) => latencies.cdf[0]?.[0] ?? latencies.p50));
  const legendHeight = lines.length * lineHeight;
  return {
    title,
    subtitle,
    height: 420 + legendHeight,
    option: {
      legend: {
        left: 16,
        top: 62,
        orient: 'vertical',
        itemWidth: 34,
        itemGap: lineHeight - 14,
        data: lines.map(({ name, latencies }) => ({ name: legendText(name, latencies) })),
        itemStyle: { opacity: 0 },
        textStyle: { fontSize: 12, color: ink.text },
      },
      grid: { left: 64, right: 36, top: 100 + legendHeight, bottom: 56 },
      xAxis: axis.values(axisName, {
        type: 'log',
        min: 10 ** Math.floor(Math.log10(Math.max(lowestMs, lowest))),
        axisLabel: { ...axis.label, formatter: formatNumber },
      }),
      yAxis: axis.values('', { min: 0, max: 100, axisLabel: { ...axis.label, formatter: '{value}%' } }),
      series: lines.map(({ name, latencies }, index) => ({
        type: 'line',
        name: legendText(name, latencies),
        symbol: 'none',
        color: contenderLook(name).colour,
        lineStyle: { width: name === 'lapse' ? 3.5 : 2, type: contenderLook(name).dash },
        z: name === 'lapse' ? 4 : 3,
        data: latencies.cdf.map(([ms, share]) => [Math.max(lowestMs, ms), share * 100]),
        ...(index === 0 && goalMs !== undefined && { markLine: goalLine(goalMs) }),
      })),
    },
  };
}

function middleRound(rounds: readonly Latencies[]): Latencies | undefined {
  const sorted = rounds.toSorted((a, b) => a.p99 - b.p99);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

function legendText(name: string, { p50, p99, max }: Latencies): string {
  const [half, most, all] = [p50, p99, max].map(formatNumber);
  return `${name}: half within ${half} ms, 99% ${most}, all ${all}`;
}

function goalLine(goalMs: number): object {
  return {
    silent: true,
    symbol: 'none',
    data: [{ xAxis: goalMs }],
    lineStyle: { color: ink.goal, type: 'dashed', width: 1.5 },
    label: { formatter: `goal: 99% within ${goalMs} ms`, color: ink.goal, fontSize: 12, position: 'end' },
  };
}
