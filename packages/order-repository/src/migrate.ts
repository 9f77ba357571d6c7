import type { RepositoryConfig, RepositoryLog } from './order-repository.ts';

export async function migrate(
  _config: Pick<RepositoryConfig, 'url'>,
  _log: RepositoryLog,
): Promise<{ applied: string[] }> {
  throw new Error('not built yet');
}
