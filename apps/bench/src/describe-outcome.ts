import type { Latencies } from './latencies.ts';
import type { Figures, Outcome } from './result.ts';

type ByName = Readonly<Record<string, number>>;

/** How a run ended, on one line. */
export function describeOutcome(outcome: Outcome): string {
  if (outcome.kind === 'skipped') return `skipped: ${outcome.reason}`;
  if (outcome.kind === 'no-figure') return `NO FIGURE: ${outcome.reasons.join('; ')}`;
  const { idle, readyMs } = outcome.figures;
  if (idle) return describeIdle(idle);
  if (readyMs) return describeStart(outcome.figures, readyMs);
  return describeWork(outcome.figures);
}

function describeWork({
  orders,
  perSecond,
  seconds,
  cpuUsPerOrder,
  latenessMs,
  responseMs,
  rolling,
}: Figures): string {
  return [
    `${orders} in ${seconds.toFixed(2)} s: ${perSecond.toFixed(0)}/s`,
    `CPU us per order ${cpuText(cpuUsPerOrder)}`,
    ...(responseMs ? [`answered p50/p99/max ${timesText(responseMs)} ms`] : []),
    ...(latenessMs
      ? [`late p50/p99/max ${latenessMs.p50}/${latenessMs.p99}/${latenessMs.max} ms of ${latenessMs.count}`]
      : []),
    ...(rolling
      ? [
          `${rolling.replaced} processes replaced, each ended within ${timesText(rolling.stopMs)} ms; ${rolling.retried} requests sent again`,
        ]
      : []),
  ].join('; ');
}

function describeIdle({ corePercent, sqlPerMinute, redisPerMinute }: NonNullable<Figures['idle']>): string {
  return [
    `percent of a core: ${namedText(corePercent, 2)}`,
    `${(sqlPerMinute.Questions ?? 0).toFixed(0)} SQL statements and ${sum(redisPerMinute).toFixed(0)} Redis commands a minute`,
  ].join('; ');
}

function describeStart({ orders, cpuUsPerOrder }: Figures, readyMs: Latencies): string {
  return `ready after p50/p99/max ${timesText(readyMs)} ms in ${orders} starts; CPU us per start ${cpuText(cpuUsPerOrder)}`;
}

function timesText({ p50, p99, max }: Latencies): string {
  return [p50, p99, max].map((ms) => ms.toFixed(1)).join('/');
}

function cpuText(us: ByName): string {
  return Object.keys(us).length === 0 ? 'not measured' : `${sum(us).toFixed(0)} (${namedText(us, 0)})`;
}

function namedText(values: ByName, digits: number): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${value.toFixed(digits)}`)
    .join(', ');
}

function sum(values: ByName): number {
  return Object.values(values).reduce((total, value) => total + value, 0);
}
