import type { Usage } from './meter.ts';
import type { Figures } from './result.ts';

type Usages = Readonly<Record<string, Usage>>;

/** What a run's figures say of its processes and services. */
export function usageFigures(
  usage: Usages,
  orders: number,
): Pick<Figures, 'cpuUsPerOrder' | 'rssPeakBytes' | 'rssOverTime'> {
  return {
    cpuUsPerOrder: cpuUsPerOrder(usage, orders),
    rssPeakBytes: mapValues(usage, ({ rssPeakBytes }) => rssPeakBytes),
    rssOverTime: mapValues(usage, ({ rssOverTime }) => rssOverTime),
  };
}

export function cpuUsPerOrder(usage: Usages, orders: number): Record<string, number> {
  return mapValues(usage, ({ cpuUs }) => cpuUs / orders);
}

function mapValues<T>(usage: Usages, of: (used: Usage) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(usage).map(([name, used]) => [name, of(used)]));
}
