import { markdownTable } from 'markdown-table';
import type { Latencies } from '../latencies.ts';
import { measuredFigures } from '../outcomes.ts';
import type { Figures, ScenarioResult } from '../result.ts';
import { median, type Summary } from '../statistics.ts';
import { services } from './colours.ts';
import { formatNumber, megabytes } from './format-number.ts';
import { rateRatio } from './rate-ratio.ts';

type Contender = ScenarioResult['contenders'][number];

interface Column {
  readonly head: string;
  /** Undefined where there is nothing to say. */
  readonly read: (contender: Contender, scenario: ScenarioResult) => string | undefined;
}

/** What a person compares. */
const figureColumns: readonly Column[] = [
  {
    head: 'orders',
    read: ({ outcomes }) => formatMedian(outcomes, (figures) => (sells(figures) ? figures.orders : 0)),
  },
  {
    head: 'per second',
    read: ({ outcomes, perSecond }) =>
      perSecond && measuredFigures(outcomes).some(sells) ? withSpread(perSecond) : undefined,
  },
  { head: 'this / limit', read: ({ name }, scenario) => timesText(rateRatio(scenario, name, 'limit')) },
  { head: 'lapse / this', read: ({ name }, scenario) => timesText(rateRatio(scenario, 'lapse', name)) },
  { head: 'CPU us per order', read: cpuText },
  { head: 'late p50 / p99 / max, ms', read: ({ outcomes }) => latencyText(outcomes, 'latenessMs') },
  { head: 'answered p50 / p99 / max, ms', read: ({ outcomes }) => latencyText(outcomes, 'responseMs') },
  { head: 'ready p50 / p99 / max, ms', read: ({ outcomes }) => latencyText(outcomes, 'readyMs') },
  { head: 'percent of one core', read: idleText },
  {
    head: 'SQL statements a minute',
    read: ({ outcomes }) => formatMedian(outcomes, ({ idle }) => idle?.sqlPerMinute.Questions ?? 0),
  },
  {
    head: 'Redis commands a minute',
    read: ({ outcomes }) =>
      formatMedian(outcomes, ({ idle }) => total(Object.values(idle?.redisPerMinute ?? {}))),
  },
  { head: 'peak memory, MB', read: memoryText },
];

/** What the stores did for one order. */
const storeColumns: readonly Column[] = [
  sqlColumn('SQL statements', ['Questions']),
  sqlColumn('commits', ['Com_commit']),
  sqlColumn('fsyncs of the log', ['Innodb_os_log_fsyncs']),
  sqlColumn('bytes to and from SQL', ['Bytes_received', 'Bytes_sent']),
  sqlColumn('row lock waits', ['Innodb_row_lock_waits']),
  {
    head: 'Redis commands',
    read: ({ outcomes }) =>
      formatMedian(outcomes, ({ redis, orders }) => total(Object.values(redis)) / orders),
  },
];

/** The scenario's figures: medians of the rounds. Columns without a figure are left out; empty when there is none at all. */
export function figureTable(scenario: ScenarioResult): string {
  return tableOf(scenario, 'contender', figureColumns);
}

export function storeTable(scenario: ScenarioResult): string {
  return tableOf(scenario, 'per order', storeColumns);
}

function tableOf(scenario: ScenarioResult, corner: string, all: readonly Column[]): string {
  const contenders = scenario.contenders.filter(({ outcomes }) => measuredFigures(outcomes).length > 0);
  const columns = all
    .map(({ head, read }) => ({ head, cells: contenders.map((contender) => read(contender, scenario)) }))
    .filter(({ cells }) => cells.some((cell) => cell !== undefined));
  if (columns.length === 0) return '';
  const rows = contenders.map(({ name }, row) => [name, ...columns.map(({ cells }) => cells[row] ?? '')]);
  return markdownTable([[corner, ...columns.map(({ head }) => head)], ...rows], {
    align: ['l', ...columns.map(() => 'r')],
  });
}

function timesText(ratio: Summary | undefined): string | undefined {
  return ratio && `${formatNumber(ratio.median)}x`;
}

/** "41 (worker 14, mysql 18, redis 3, broker 6)". */
function cpuText({ outcomes, cpuUsPerOrder }: Contender): string | undefined {
  if (cpuUsPerOrder === null || cpuUsPerOrder.median === 0) return undefined;
  const parts = byName(outcomes, (figures) => figures.cpuUsPerOrder);
  return `${formatNumber(cpuUsPerOrder.median)} (${namedText(parts)})`;
}

/** Of the contender's own processes: that of the services is what they are configured to cache. */
function memoryText({ outcomes }: Contender): string | undefined {
  const parts = byName(outcomes, ({ rssPeakBytes }) => rssPeakBytes).filter(
    ([name]) => !services.includes(name),
  );
  return parts.length === 0 ? undefined : namedText(parts.map(([name, bytes]) => [name, megabytes(bytes)]));
}

/** "closer 0.4, mysql 0.2". */
function idleText({ outcomes }: Contender): string | undefined {
  const parts = byName(outcomes, ({ idle }) => idle?.corePercent ?? {});
  return parts.length === 0 ? undefined : namedText(parts);
}

/** Neither a system without work nor a start has orders. */
function sells({ idle, readyMs }: Figures): boolean {
  return idle === undefined && readyMs === undefined;
}

type Named = readonly (readonly [string, number])[];

/** Medians of the rounds, by process. */
function byName(outcomes: Contender['outcomes'], read: (figures: Figures) => Figures['rssPeakBytes']): Named {
  const runs = measuredFigures(outcomes).map(read);
  const names = [...new Set(runs.flatMap((run) => Object.keys(run)))];
  return names.map((name) => [name, median(runs.flatMap((run) => run[name] ?? []))]);
}

function namedText(values: Named): string {
  return values.map(([name, value]) => `${name} ${formatNumber(value)}`).join(', ');
}

function latencyText(
  outcomes: Contender['outcomes'],
  field: 'latenessMs' | 'responseMs' | 'readyMs',
): string | undefined {
  const runs = measuredFigures(outcomes).flatMap((figures) => figures[field] ?? []);
  if (runs.length === 0) return undefined;
  const text = (read: (run: Latencies) => number): string => formatNumber(median(runs.map(read)));
  return [text(({ p50 }) => p50), text(({ p99 }) => p99), text(({ max }) => max)].join(' / ');
}

function sqlColumn(head: string, names: readonly string[]): Column {
  return {
    head,
    read: ({ outcomes }) =>
      formatMedian(outcomes, ({ sql, orders }) => total(names.map((name) => sql[name] ?? 0)) / orders),
  };
}

/** Undefined where it is nothing in every round. */
function formatMedian(
  outcomes: Contender['outcomes'],
  read: (figures: Figures) => number,
): string | undefined {
  const values = measuredFigures(outcomes).map(read);
  return values.every((value) => value === 0) ? undefined : formatNumber(median(values));
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function withSpread({ median: middle, min, max }: Summary): string {
  return min === max
    ? formatNumber(middle)
    : `${formatNumber(middle)} (${formatNumber(min)} - ${formatNumber(max)})`;
}
