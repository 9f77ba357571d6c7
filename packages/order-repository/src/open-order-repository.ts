import type { OrderRepository, RepositoryConfig, RepositoryLog } from './order-repository.ts';

export async function openOrderRepository(
  _config: RepositoryConfig,
  _log: RepositoryLog,
): Promise<OrderRepository> {
  throw new Error('not built yet');
}
