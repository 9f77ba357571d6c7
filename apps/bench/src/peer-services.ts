import { join } from 'node:path';
import { findPostgres, postgresMissing } from './find-postgres.ts';
import { type PrivatePostgres, startPostgres } from './private-postgres.ts';
import { findRabbitmq, type PrivateRabbitmq, startRabbitmq } from './private-rabbitmq.ts';
import { type PrivateRocketmq, startDefaultRocketmq } from './private-rocketmq.ts';

/** Services of the bench alone, started by the first call; or why there is none. */
export interface PeerServices {
  readonly rabbitmq: () => Promise<PrivateRabbitmq | string>;
  readonly postgres: () => Promise<PrivatePostgres | string>;
  /** A second broker, with RocketMQ's own default timerPrecisionMs. */
  readonly defaultRocketmq: () => Promise<PrivateRocketmq | string>;
  readonly close: () => Promise<void>;
}

/** Nothing runs until it is asked for. */
export function createPeerServices(dir: string): PeerServices {
  let rabbitmq: Promise<PrivateRabbitmq> | undefined;
  let postgres: Promise<PrivatePostgres> | undefined;
  let rocketmq: Promise<PrivateRocketmq> | undefined;
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
    defaultRocketmq: async () => {
      rocketmq ??= startDefaultRocketmq(join(dir, 'rocketmq-by-default'));
      return await rocketmq.catch((error: Error) => `RocketMQ did not start: ${error.message}`);
    },
    close: async () => {
      await Promise.allSettled(
        [rabbitmq, postgres, rocketmq].map(async (service) => await (await service)?.close()),
      );
    },
  };
}
