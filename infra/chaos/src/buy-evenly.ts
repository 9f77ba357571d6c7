import { sleep } from '@lapse/runtime';

export interface EvenLoad {
  readonly ordersPerSecond: number;
  readonly forMs: number;
}

/**
 * Buyers come evenly, whatever becomes of those before them. @returns how many have an order.
 * @throws what the first of them met that had none, once all have come.
 */
export async function buyEvenly(
  buy: () => Promise<void>,
  { ordersPerSecond, forMs }: EvenLoad,
  signal: AbortSignal,
): Promise<number> {
  const count = (ordersPerSecond * forMs) / 1_000;
  const bought: Promise<void>[] = [];
  for (let index = 0; index < count && !signal.aborted; index += 1) {
    const buying = buy();
    // Nobody else listens until the last has come, and a rejection that nobody hears ends the process.
    buying.catch(() => {});
    bought.push(buying);
    await sleep(forMs / count, signal);
  }
  await Promise.all(bought);
  return bought.length;
}
