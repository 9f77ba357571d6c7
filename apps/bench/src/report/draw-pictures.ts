import type { ScenarioResult } from '../result.ts';
import { cpuChart } from './cpu-chart.ts';
import { growthChart } from './growth-chart.ts';
import { latencyChart } from './latency-chart.ts';
import { memoryChart } from './memory-chart.ts';
import { rateChart } from './rate-chart.ts';
import { type Chart, renderChart } from './render-chart.ts';

export interface Picture {
  readonly scenario: string;
  readonly file: string;
  /** What it shows, for who cannot see it. */
  readonly alt: string;
  readonly svg: string;
}

interface Drawing {
  readonly scenario: string;
  /** Of the file, behind the scenario's name. */
  readonly kind: string;
  readonly draw: (scenario: ScenarioResult, all: readonly ScenarioResult[]) => Chart | undefined;
}

const afterDeadline = 'milliseconds after the deadline, logarithmic';
const middleText = 'Share of orders closed within so long. Of each contender the round in the middle.';

/** In the order in which a report shows them. */
const drawings: readonly Drawing[] = [
  { scenario: 'close-burst', kind: 'rate', draw: (scenario) => rateChart(scenario, 'orders closed') },
  { scenario: 'close-burst', kind: 'cpu', draw: (scenario) => cpuChart(scenario, 'closed order') },
  {
    scenario: 'close-burst',
    kind: 'lateness',
    draw: (scenario) =>
      latencyChart(scenario, {
        title: 'close-burst: how late, when all are due at once',
        subtitle: `${middleText} The numbers of orders differ, see the table.`,
        axisName: afterDeadline,
        field: 'latenessMs',
      }),
  },
  {
    scenario: 'close-burst',
    kind: 'memory',
    draw: (scenario) =>
      memoryChart(scenario, {
        title: 'close-burst: memory of the closer',
        contender: 'lapse',
        goalMegabytes: 150,
      }),
  },
  { scenario: 'close-burst-100', kind: 'rate', draw: (scenario) => rateChart(scenario, 'orders closed') },
  {
    scenario: 'steady',
    kind: 'lateness',
    draw: (scenario) =>
      latencyChart(scenario, {
        title: 'steady: how late, in a steady stream of orders',
        subtitle: middleText,
        axisName: afterDeadline,
        field: 'latenessMs',
        goalMs: 50,
      }),
  },
  {
    scenario: 'steady',
    kind: 'memory',
    draw: (scenario) =>
      memoryChart(scenario, { title: 'steady: memory of every process', contender: 'lapse' }),
  },
  { scenario: 'create', kind: 'rate', draw: (scenario) => rateChart(scenario, 'orders placed') },
  { scenario: 'create', kind: 'cpu', draw: (scenario) => cpuChart(scenario, 'placed order') },
  {
    scenario: 'create',
    kind: 'response',
    draw: (scenario) =>
      latencyChart(scenario, {
        title: 'create: how long a buyer waits for the answer',
        subtitle: 'Share of requests answered within so long. Of each contender the round in the middle.',
        axisName: 'milliseconds from request to answer, logarithmic',
        field: 'responseMs',
        goalMs: 150,
      }),
  },
  {
    scenario: 'create',
    kind: 'memory',
    draw: (scenario) =>
      memoryChart(scenario, {
        title: 'create: memory of the producer',
        contender: 'lapse',
        goalMegabytes: 200,
      }),
  },
  { scenario: 'sold-out', kind: 'rate', draw: (scenario) => rateChart(scenario, 'refusals') },
  {
    scenario: 'growth-create',
    kind: 'cpu',
    draw: (_, all) =>
      growthChart(all, [
        { scenario: 'growth-create', label: 'placing it', colour: '#0072b2' },
        { scenario: 'growth-close', label: 'closing it', colour: '#d55e00' },
      ]),
  },
];

/** All pictures for which something was measured. */
export function drawPictures(scenarios: readonly ScenarioResult[]): Picture[] {
  return drawings.flatMap(({ scenario, kind, draw }): Picture[] => {
    const result = scenarios.find(({ name }) => name === scenario);
    const chart = result && draw(result, scenarios);
    if (chart === undefined) return [];
    const alt = `${chart.title}. ${chart.subtitle}`;
    return [{ scenario, file: `${scenario}-${kind}.svg`, alt, svg: renderChart(chart) }];
  });
}
