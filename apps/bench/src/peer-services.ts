import { join } from 'node:path';
import { findPostgres, postgresMissing } from './find-postgres.ts';
import { type PrivatePostgres, startPostgres } from './private-postgres.ts';
import { findRabbitmq, type PrivateRabbitmq, startRabbitmq } from './private-rabbitmq.ts';

export interface PeerServices {
  /** A RabbitMQ of the bench alone, started by the first call; or why there is none. */
  readonly rabbitmq: () => Promise<PrivateRabbitmq | string>;
  /** The same, of PostgreSQL. */
  readonly postgres: () => Promise<PrivatePostgres | string>;
  readonly close: () => Promise<void>;
}

/** Nothing runs until it is asked for. */
export function createPeerServices(dir: string): PeerServices {
  let rabbitmq: Promise<PrivateRabbitmq> | undefined;
  let postgres: Promise<PrivatePostgres> | undefined;
  return {
    rabbitmq: async () => {
      const command = findRabbitmq();
      if (command === undefined) return 'rabbitmq-server is not installed on this machine';
      rabbitmq ??= startRabbitmq(command, join(dir, 'rabbitmq'));
      return await rabbitmq.catch((error: Error) => `RabbitMQ did not start: ${error.message}`);
    },
    postgres: async () => {
      const bin = findPostgres();
      if (bin === undefined) return postgresMissing;
      postgres ??= startPostgres(bin, join(dir, 'postgres'));
      return await postgres.catch((error: Error) => `PostgreSQL did not start: ${error.message}`);
    },
    close: async () => {
      await postgres?.then(({ close }) => close()).catch(() => undefined);
      await rabbitmq?.then(({ close }) => close()).catch(() => undefined);
    },
  };
}
