import type { ScenarioResult } from '../result.ts';
import { contenderLook, ink } from './colours.ts';
import { formatNumber } from './format-number.ts';
import { rateRatio } from './rate-ratio.ts';
import { axis, type Chart } from './render-chart.ts';
import { type Bar, spreadSeries } from './spread-series.ts';

const rowHeight = 34;
const frameHeight = 150;

/** How many each does in a second, the fastest on top, beside the line that nothing can pass. Undefined when nothing was measured. */
export function rateChart(scenario: ScenarioResult, what: string): Chart | undefined {
  const bars = scenario.contenders
    .flatMap(({ name, perSecond }): Bar[] => (perSecond === null ? [] : [{ name, ...perSecond }]))
    .toSorted((a, b) => b.median - a.median);
  const limit = bars.find(({ name }) => name === 'limit');
  if (bars.length === 0) return undefined;
  return {
    title: `${scenario.name}: ${what} per second`,
    subtitle:
      'Median of the rounds, and from the slowest to the fastest round. Logarithmic: each line is ten times the one before.',
    height: frameHeight + bars.length * rowHeight,
    option: {
      grid: { left: 130, right: 190, top: 92, bottom: 56 },
      xAxis: axis.values(`${what} per second`, {
        type: 'log',
        min: 10 ** Math.floor(Math.log10(Math.min(...bars.map(({ min }) => min)) / 2)),
        axisLabel: { ...axis.label, formatter: formatNumber },
      }),
      yAxis: [
        axis.names(bars.map(({ name }) => name)),
        axis.names(
          bars.map((bar) => rightText(bar, scenario)),
          { position: 'right' },
        ),
      ],
      series: [
        {
          type: 'bar',
          barWidth: 18,
          data: bars.map(({ name, median }) => ({
            value: median,
            itemStyle: { color: contenderLook(name).colour },
          })),
          ...(limit && { markLine: limitLine(limit.median) }),
        },
        spreadSeries(bars),
      ],
    },
  };
}

function rightText({ name, median }: Bar, scenario: ScenarioResult): string {
  const share = rateRatio(scenario, name, 'limit');
  if (share === undefined) return formatNumber(median);
  return `${formatNumber(median)}  (${formatShare(share.median)} of the limit)`;
}

/** "87%", "0.3%". */
function formatShare(share: number): string {
  return share >= 0.1 ? `${Math.round(share * 100)}%` : `${(share * 100).toPrecision(1)}%`;
}

function limitLine(at: number): object {
  return {
    silent: true,
    symbol: 'none',
    data: [{ xAxis: at }],
    lineStyle: { color: ink.text, type: 'dashed', width: 1.5 },
    label: { formatter: 'bare limit', color: ink.text, fontSize: 12, position: 'start' },
  };
}
