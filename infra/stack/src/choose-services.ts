import type { ServiceChoice } from './args.ts';
import { UsageError } from './usage-error.ts';

/** Addresses of what the environment gives; what is absent must be brought up. */
interface GivenEndpoints {
  readonly mysqlUrl?: string;
  readonly redisUrl?: string;
  readonly rocketmqEndpoints?: string;
  readonly rocketmqNamesrv?: string;
}

export const serviceNames = ['mysql', 'redis', 'rocketmq'] as const;
export type ServiceName = (typeof serviceNames)[number];

export interface ServicePlan {
  readonly given: GivenEndpoints;
  /** What is not given, and how it comes up. `install` is `local` after installing the programs. */
  readonly wanted: readonly ServiceName[];
  readonly how: 'local' | 'install' | 'compose';
}

/** What this machine offers; looked up only when it matters. */
export interface Machine {
  /** Programs that private local instances of these services lack. */
  readonly missingPrograms: (wanted: readonly ServiceName[]) => Promise<readonly string[]>;
  readonly composeAnswers: () => Promise<boolean>;
}

/** Where a person gives the address of each. */
export const variables: Record<ServiceName, string> = {
  mysql: 'LAPSE_MYSQL_URL',
  redis: 'LAPSE_REDIS_URL',
  rocketmq: 'LAPSE_ROCKETMQ_ENDPOINTS',
};

function givenEndpoints(env: NodeJS.ProcessEnv): GivenEndpoints {
  return {
    ...(env.LAPSE_MYSQL_URL && { mysqlUrl: env.LAPSE_MYSQL_URL }),
    ...(env.LAPSE_REDIS_URL && { redisUrl: env.LAPSE_REDIS_URL }),
    ...(env.LAPSE_ROCKETMQ_ENDPOINTS && { rocketmqEndpoints: env.LAPSE_ROCKETMQ_ENDPOINTS }),
    ...(env.LAPSE_ROCKETMQ_NAMESRV && { rocketmqNamesrv: env.LAPSE_ROCKETMQ_NAMESRV }),
  };
}

/**
 * Decide how each service comes up. In this order: endpoints that are given; private local instances
 * where the programs are here; containers where an engine answers; else the programs are installed.
 * @throws {UsageError} when a forced choice cannot be met.
 */
export async function chooseServices(
  choice: ServiceChoice,
  env: NodeJS.ProcessEnv,
  machine: Machine,
): Promise<ServicePlan> {
  const given = givenEndpoints(env);
  const wanted = serviceNames.filter(
    (name) => env[variables[name]] === undefined || env[variables[name]] === '',
  );
  const plan = (how: ServicePlan['how']): ServicePlan => ({ given, wanted, how });
  if (wanted.length === 0) return plan('local');
  if (choice === 'external') {
    throw new UsageError(`--services=external needs ${wanted.map((name) => variables[name]).join(', ')}.`);
  }
  if (choice === 'compose') {
    if (await machine.composeAnswers()) return plan('compose');
    throw new UsageError(
      '--services=compose needs a docker engine that answers `docker info`, and `docker compose`.',
    );
  }
  if ((await machine.missingPrograms(wanted)).length === 0) return plan('local');
  if (choice === 'local') return plan('install');
  return plan((await machine.composeAnswers()) ? 'compose' : 'install');
}
