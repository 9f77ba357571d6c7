import type { Faults } from '../judge-ledger.ts';
import type { OutageResult } from './measure-outage.ts';

const heads = [
  ...[
    'away',
    'for',
    'by',
    'start',
    'ready',
    'created',
    'closed',
    'caught up',
    'calm',
    'sold',
    'overdue',
    'late after',
  ],
];

/** The figures of all outages, a line each; times in seconds from the return. */
export function outageTable(results: readonly OutageResult[]): string {
  const rows = [heads, ...results.map(rowOf)];
  const widths = heads.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** The exact last line of a run. Where a figure is missing the worst one is not known. */
export function outageLine(
  results: readonly OutageResult[],
  { lost, twice, early }: Pick<Faults, 'lost' | 'twice' | 'early'>,
): string {
  const worst = (figures: readonly (number | null)[]): string =>
    figures.length === 0 || figures.includes(null) ? 'unknown' : String(Math.max(...figures.map(Number)));
  return (
    `outages: cases=${results.length} worst_ready_ms=${worst(results.map(({ readyMs }) => readyMs))} ` +
    `worst_close_ms=${worst(results.map(({ closedMs }) => closedMs))} ` +
    `lost=${lost.length} twice=${twice.length} early=${early.length}`
  );
}

function rowOf(result: OutageResult): string[] {
  const { service, seconds, how, isOver } = result;
  return [
    ...[service, `${seconds} s`, how, inSeconds(result.startMs), inSeconds(result.readyMs)],
    ...[inSeconds(result.createdMs), inSeconds(result.closedMs), inSeconds(result.caughtUpMs)],
    isOver ? inSeconds(result.calmMs) : 'not in time',
    ...[String(result.soldWhileAway), String(result.overdueAtBack)],
    result.lateAfter === 0 ? '0' : `${result.lateAfter}, by ${inSeconds(result.lateAfterMaxMs)} at most`,
  ];
}

function inSeconds(ms: number | null): string {
  return ms === null ? 'not in time' : (ms / 1_000).toFixed(2);
}
