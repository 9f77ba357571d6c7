import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { markdownTable } from 'markdown-table';
import { BenchError } from './bench-error.ts';
import { measuredFigures, outcomesOf } from './outcomes.ts';
import { readResult } from './read-result.ts';
import { formatNumber } from './report/format-number.ts';
import type { ScenarioResult } from './result.ts';
import { planMachines } from './scale/plan-machines.ts';
import { type Cell, type Load, simulateCell } from './scale/simulate-cell.ts';
import { median } from './statistics.ts';

/**
 * `npm run bench:scale [FILE.json]`: what a million orders due in one minute take, and ten, by the costs that a run
 * measured; and how late they close, played through. What infra/decisions/0014 is made of.
 */
const file =
  process.argv[2] ?? join(fileURLToPath(new URL('../../../infra/bench', import.meta.url)), 'result.json');
const minuteMs = 60_000;
const loads: readonly Load[] = [
  { orders: 1_000_000, windowMs: minuteMs },
  { orders: 1_000_000, windowMs: 0 },
  { orders: 10_000_000, windowMs: minuteMs },
];
const cells: readonly Cell[] = [
  { closers: 1, primaryCores: 2, activities: 1 },
  { closers: 2, primaryCores: 4, activities: 1 },
  { closers: 4, primaryCores: 8, activities: 1 },
  { closers: 8, primaryCores: 16, activities: 1 },
  { closers: 8, primaryCores: 16, activities: 100_000 },
  { closers: 16, primaryCores: 32, activities: 100_000 },
];

try {
  const { scenarios } = readResult(file);
  const phases = {
    create: costsOf(scenarios, 'create'),
    remind: costsOf(scenarios, 'remind-burst'),
    close: costsOf(scenarios, 'close-burst'),
  };
  for (const [phase, cost] of Object.entries(phases)) say(`${phase}, us of CPU an order: ${describe(cost)}`);
  for (const orders of [1_000_000, 10_000_000]) sayNeeds(orders, phases);
  for (const load of loads) sayCells(load, phases.close);
} catch (error) {
  if (!(error instanceof BenchError)) throw error;
  process.stderr.write(`${error.code}: ${error.message}\n`);
  process.exitCode = 1;
}

/** @throws {BenchError} LAPSE_BENCH_REPORT when the run did not measure it. */
function costsOf(scenarios: readonly ScenarioResult[], scenario: string): Record<string, number> {
  const figures = measuredFigures(outcomesOf(scenarios, scenario, 'lapse'));
  const [first] = figures;
  if (!first) throw new BenchError('LAPSE_BENCH_REPORT', `${file} has no figure of ${scenario}/lapse.`);
  const costOf = (name: string): number =>
    median(figures.map(({ cpuUsPerOrder }) => cpuUsPerOrder[name] ?? 0));
  return Object.fromEntries(Object.keys(first.cpuUsPerOrder).map((name) => [name, costOf(name)]));
}

function sayNeeds(orders: number, phases: Readonly<Record<string, Readonly<Record<string, number>>>>): void {
  const rows = Object.entries(phases).flatMap(([phase, cost]) =>
    planMachines(orders / 60, cost).map(({ what, usPerOrder, cores, machines, of }) => [
      ...[phase, what, usPerOrder.toFixed(0), cores.toFixed(1), `${machines}, ${of}`],
    ]),
  );
  say(`\n${formatNumber(orders)} orders in one minute, at half load:\n`);
  say(markdownTable([['phase', 'what', 'us an order', 'cores', 'machines'], ...rows]));
}

function sayCells(load: Load, { worker = 0, mysql = 0 }: Readonly<Record<string, number>>): void {
  const rows = cells.map((cell) => {
    const { lastClosedMs, lateP99Ms, lateMaxMs, busy } = simulateCell(load, cell, { worker, mysql });
    return [
      ...[cell.closers, cell.primaryCores, formatNumber(cell.activities)].map(String),
      ...[lastClosedMs / 1_000, lateP99Ms / 1_000, lateMaxMs / 1_000].map((seconds) => seconds.toFixed(2)),
      ...[busy.closer, busy.primary].map((share) => `${(share * 100).toFixed(0)}%`),
    ];
  });
  const head = [
    ...['closers', 'cores of MySQL', 'sales', 'last closed, s', 'late p99, s', 'late max, s'],
    ...['closer busy', 'MySQL busy'],
  ];
  say(
    `\n${formatNumber(load.orders)} orders due ${load.windowMs === 0 ? 'at one moment' : 'over one minute'}:\n`,
  );
  say(markdownTable([head, ...rows]));
}

function describe(cost: Readonly<Record<string, number>>): string {
  return Object.entries(cost)
    .map(([name, us]) => `${name} ${us.toFixed(0)}`)
    .join(', ');
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
