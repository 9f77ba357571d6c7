import type { Usage } from './meter.ts';

/** One field of each process's usage, divided by the number of orders. */
export function perOrder(
  usage: Readonly<Record<string, Usage>>,
  orders: number,
  field: keyof Usage,
): Record<string, number> {
  return Object.fromEntries(Object.entries(usage).map(([name, used]) => [name, used[field] / orders]));
}
