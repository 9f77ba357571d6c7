import { type ConnectionPool, openConnectionPool, type PoolConfig } from './connection-pool.ts';
import { isConnectionLost } from './mysql-fault.ts';
import type { RepositoryConfig, RepositoryLog } from './order-repository.ts';
import { type Session, sessionOn } from './session.ts';

/** The pool. Opened once per process. */
export interface Database {
  readonly pool: ConnectionPool;
  readonly queryTimeoutMs: number;
  /** Lend a connection for the time of `use`. A connection that failed as such is destroyed, not reused. */
  withSession<T>(use: (session: Session, destroy: () => void) => Promise<T>): Promise<T>;
  /** Waits for what is under way. May be called any number of times. */
  close(): Promise<void>;
}

/** Does not connect yet: the first use does. */
export function openDatabase(
  config: RepositoryConfig & Pick<PoolConfig, 'readOnly'>,
  log: RepositoryLog,
): Database {
  const pool = openConnectionPool(config, log);
  const sessionOptions = {
    queryTimeoutMs: config.queryTimeoutMs,
    shopEvents: config.shopEvents ?? false,
  };

  return {
    pool,
    queryTimeoutMs: config.queryTimeoutMs,
    withSession: async (use) => {
      const connection = await pool.acquire().promise;
      try {
        return await use(sessionOn(connection, sessionOptions), () => connection.destroy());
      } catch (error) {
        if (isConnectionLost(error)) connection.destroy();
        throw error;
      } finally {
        pool.release(connection);
      }
    },
    close: async () => {
      await pool.destroy();
    },
  };
}
