import { findPrograms, installMissing, installMode, type ProgramName } from '@lapse/local-services';
import type { Closable } from '@lapse/runtime';
import type { ServiceChoice } from './args.ts';
import {
  chooseServices,
  type Machine,
  type ServiceName,
  type ServicePlan,
  serviceNames,
  variables,
} from './choose-services.ts';
import { composeAnswers, openCompose } from './compose.ts';
import { openLocal } from './local.ts';
import type { Printer } from './print.ts';

export interface StackServices extends Closable {
  readonly mysqlUrl: string;
  readonly redisUrl: string;
  readonly rocketmqEndpoints: string;
  /** Null: a broker that is given without its name server; its topics must exist. */
  readonly rocketmqNamesrv: string | null;
  /** Where each comes from, for a person: `given`, `local` or `compose`. */
  readonly origin: Readonly<Record<ServiceName, 'given' | 'local' | 'compose'>>;
  kill(): void;
}

export interface ServicesOptions {
  readonly choice: ServiceChoice;
  readonly root: string;
  /** Data folder of local instances. */
  readonly dir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly print: Printer;
  readonly signal: AbortSignal;
}

const databaseName = 'lapse';
/** Away from the standard ports, where a person's own services live. The next free ones when taken. */
const localPorts = { mysql: 13_306, redis: 16_379, rocketmq: 18_081 } as const;

const neededBy: Record<ServiceName, readonly ProgramName[]> = {
  mysql: ['mariadb'],
  redis: ['redis'],
  rocketmq: ['java', 'maven'],
};

/** Bring up what the environment does not give, in the order of choice that `--help` states. */
export async function openServices({
  choice,
  root,
  dir,
  env,
  print,
  signal,
}: ServicesOptions): Promise<StackServices> {
  const machine: Machine = { missingPrograms, composeAnswers: () => composeAnswers(root) };
  const plan = await chooseServices(choice, env, machine);
  for (const name of serviceNames) {
    if (plan.wanted.includes(name)) continue;
    print.line(`  ${name}: the one that ${variables[name]} names; unset it for a private one`);
  }
  if (plan.how === 'install') await installPrograms(plan.wanted, env, print);
  const opened =
    plan.how === 'compose'
      ? await print.step('containers', 'containers up', () => openCompose(root, plan.wanted, print))
      : await openLocal({
          dir,
          wanted: plan.wanted,
          print,
          ports: localPorts,
          database: databaseName,
          restart: true,
          signal,
        });
  const all = { ...opened, ...plan.given };
  return {
    mysqlUrl: present(all.mysqlUrl),
    redisUrl: present(all.redisUrl),
    rocketmqEndpoints: present(all.rocketmqEndpoints),
    // The name server of a broker that is given is never the local one.
    rocketmqNamesrv:
      (plan.given.rocketmqEndpoints ? plan.given.rocketmqNamesrv : all.rocketmqNamesrv) ?? null,
    origin: {
      mysql: originOf('mysql', plan),
      redis: originOf('redis', plan),
      rocketmq: originOf('rocketmq', plan),
    },
    close: opened.close,
    kill: 'kill' in opened ? opened.kill : () => {},
  };
}

/** What private instances of these services lack on this machine. */
async function missingPrograms(
  wanted: readonly ServiceName[],
  others: readonly ProgramName[] = [],
): Promise<readonly ProgramName[]> {
  const needed = new Set([...wanted.flatMap((name) => neededBy[name]), ...others]);
  return (await findPrograms()).missing.filter((program) => needed.has(program));
}

/** @throws {LocalServiceError} with the exact commands, where that cannot be done without asking. */
export async function installPrograms(
  wanted: readonly ServiceName[],
  env: NodeJS.ProcessEnv,
  print: Printer,
  others: readonly ProgramName[] = [],
): Promise<void> {
  const missing = await missingPrograms(wanted, others);
  if (missing.length === 0) return;
  await print.step('installing programs', 'programs installed', () =>
    installMissing({ missing, mode: installMode(env), log: print.line }),
  );
}

function originOf(name: ServiceName, { wanted, how }: ServicePlan): 'given' | 'local' | 'compose' {
  if (!wanted.includes(name)) return 'given';
  return how === 'compose' ? 'compose' : 'local';
}

function present(url: string | undefined): string {
  if (url === undefined)
    throw new Error('A service that was neither given nor started: a fault of the stack.');
  return url;
}
