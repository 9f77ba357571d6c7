import { measuredFigures } from '../outcomes.ts';
import type { ScenarioResult } from '../result.ts';
import { median } from '../statistics.ts';
import { processColour, services } from './colours.ts';
import { formatNumber } from './format-number.ts';
import { axis, type Chart } from './render-chart.ts';

const rowHeight = 34;
const frameHeight = 170;

interface Row {
  readonly name: string;
  /** Microseconds per order by process, medians of the rounds. */
  readonly cpuUs: Readonly<Record<string, number>>;
  readonly total: number;
}

/** What one order costs, by process and service, the cheapest on top. Undefined when nothing was measured. */
export function cpuChart(scenario: ScenarioResult, what: string): Chart | undefined {
  const rows = scenario.contenders.flatMap(rowOf).toSorted((a, b) => a.total - b.total);
  if (rows.length === 0) return undefined;
  const processes = inOrder(rows.flatMap(({ cpuUs }) => Object.keys(cpuUs)));
  return {
    title: `${scenario.name}: CPU time of one ${what}`,
    subtitle:
      'Microseconds of all processes and services together, medians of the rounds; rates swing with the machine, this does not.',
    height: frameHeight + rows.length * rowHeight,
    option: {
      legend: { data: processes, left: 16, top: 62, itemWidth: 14, itemHeight: 10, itemGap: 18 },
      grid: { left: 130, right: 90, top: 100, bottom: 56 },
      xAxis: axis.values(`microseconds of CPU per ${what}`, {
        axisLabel: { ...axis.label, formatter: formatNumber },
      }),
      yAxis: [
        axis.names(rows.map(({ name }) => name)),
        axis.names(
          rows.map(({ total }) => formatNumber(total)),
          { position: 'right' },
        ),
      ],
      series: processes.map((process) => ({
        type: 'bar',
        name: process,
        stack: 'cpu',
        barWidth: 18,
        itemStyle: { color: processColour(process) },
        data: rows.map(({ cpuUs }) => cpuUs[process] ?? 0),
      })),
    },
  };
}

function rowOf({ name, outcomes, cpuUsPerOrder }: ScenarioResult['contenders'][number]): Row[] {
  if (cpuUsPerOrder === null) return [];
  const runs = measuredFigures(outcomes).map((figures) => figures.cpuUsPerOrder);
  const processes = [...new Set(runs.flatMap((run) => Object.keys(run)))];
  const cpuUs = Object.fromEntries(
    processes.map((process) => [process, median(runs.flatMap((run) => run[process] ?? []))]),
  );
  return [{ name, cpuUs, total: cpuUsPerOrder.median }];
}

/** Processes of the contenders first, then what all of them share. */
function inOrder(names: readonly string[]): string[] {
  return [...new Set(names)].toSorted((a, b) => services.indexOf(a) - services.indexOf(b));
}
