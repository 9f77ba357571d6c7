import { join } from 'node:path';
import { findRabbitmq, type PrivateRabbitmq, startRabbitmq } from './private-rabbitmq.ts';

export interface PeerServices {
  /** A RabbitMQ of the bench alone, started by the first call; or why there is none. */
  readonly rabbitmq: () => Promise<PrivateRabbitmq | string>;
  readonly close: () => Promise<void>;
}

/** Nothing runs until it is asked for. */
export function createPeerServices(dir: string): PeerServices {
  let rabbitmq: Promise<PrivateRabbitmq> | undefined;
  return {
    rabbitmq: async () => {
      const command = findRabbitmq();
      if (command === undefined) return 'rabbitmq-server is not installed on this machine';
      rabbitmq ??= startRabbitmq(command, join(dir, 'rabbitmq'));
      return await rabbitmq.catch((error: Error) => `RabbitMQ did not start: ${error.message}`);
    },
    close: async () => {
      await rabbitmq?.then(({ close }) => close()).catch(() => undefined);
    },
  };
}
