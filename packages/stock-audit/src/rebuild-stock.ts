import type { OrderRepository } from '@lapse/order-repository';
import type { Logger } from '@lapse/runtime';
import type { LoadedStock, Stock } from '@lapse/stock';

export interface RebuildStockParts {
  readonly orders: Pick<OrderRepository, 'rebuildSnapshot'>;
  readonly stock: Pick<Stock, 'load' | 'readLoad' | 'readLoadToken'>;
  readonly log: Logger;
}

/** What Redis must have been loaded under, as MySQL has noted it. */
export interface ExpectedLoad {
  readonly generation: number;
  readonly stockRunId: string | null;
}

/** Thrown inside the transaction to undo it: somebody else has loaded this stock meanwhile. */
class StockIsCurrent extends Error {}

/**
 * Load an activity's stock from MySQL, under the lock of its row, so that one process at a time does it. Under the
 * lock `isWanted` is asked once more, with what Redis has and what MySQL has noted: when another process was quicker,
 * the transaction is undone instead of loading a second time.
 * @returns false when it was not wanted any more, or there is no such activity, or it is archived.
 */
export async function rebuildStock(
  { orders, stock, log }: RebuildStockParts,
  activityId: number,
  why: string,
  isWanted: (load: LoadedStock | null, expected: ExpectedLoad) => boolean,
): Promise<boolean> {
  const startedAt = performance.now();
  let lockedAt = startedAt;
  let loaded: object | undefined;
  try {
    await orders.rebuildSnapshot(activityId, async ({ available, stockRunId, ...snapshot }) => {
      lockedAt = performance.now();
      const { generation, holds } = snapshot;
      const before = await stock.readLoad(activityId);
      const replaces = await stock.readLoadToken(activityId);
      if (!isWanted(before, { generation: generation - 1, stockRunId })) throw new StockIsCurrent();
      const runId = await stock.load({ ...snapshot, stock: available }, replaces);
      loaded = { before, generation, available, holds: holds.length };
      return runId;
    });
  } catch (error) {
    if (error instanceof StockIsCurrent || (error as Error).cause instanceof StockIsCurrent) return false;
    throw error;
  }
  if (loaded === undefined) return false;
  const now = performance.now();
  const times = { ms: Math.round(now - startedAt), loadMs: Math.round(now - lockedAt) };
  log.warn({ activityId, ...loaded, ...times }, why);
  return true;
}
