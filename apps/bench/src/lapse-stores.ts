import { type OrderRepository, openOrderRepository } from '@lapse/order-repository';
import { openStock } from '@lapse/stock';
import type { RunStores } from './open-stores.ts';
import { quietLog } from './quiet-log.ts';

/** The stores as Lapse itself writes them. */
export interface LapseStores {
  readonly repository: OrderRepository;
  /** Load an activity of MySQL into Redis, as after a loss. */
  readonly load: (activityId: number) => Promise<void>;
}

/** Statements over a million rows take their time. */
const queryTimeoutMs = 60_000;
const commandTimeoutMs = 10_000;

/** For what must be there before anything is measured. */
export async function withLapseStores<T>(
  { mysqlUrl, redisUrl }: Pick<RunStores, 'mysqlUrl' | 'redisUrl'>,
  use: (stores: LapseStores) => Promise<T>,
): Promise<T> {
  const repository = await openOrderRepository({ url: mysqlUrl, poolMax: 4, queryTimeoutMs }, quietLog);
  const stock = await openStock({ url: redisUrl, commandTimeoutMs }, quietLog);
  try {
    return await use({
      repository,
      load: (activityId) =>
        repository.rebuildSnapshot(activityId, ({ available, ...snapshot }) =>
          stock.load({ ...snapshot, stock: available }, ''),
        ),
    });
  } finally {
    await stock.close();
    await repository.close();
  }
}
