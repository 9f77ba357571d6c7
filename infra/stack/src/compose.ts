import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { freePort } from '@lapse/local-services';
import type { Closable } from '@lapse/runtime';
import type { ServiceName } from './choose-services.ts';
import type { Printer } from './print.ts';
import { runProgram } from './run-program.ts';

export interface ComposeServices extends Closable {
  readonly mysqlUrl: string;
  readonly redisUrl: string;
  readonly rocketmqEndpoints: string;
  readonly rocketmqNamesrv: string;
}

/** The containers of each service; the broker brings its name server. */
const containers: Record<ServiceName, readonly string[]> = {
  mysql: ['mysql'],
  redis: ['redis'],
  rocketmq: ['namesrv', 'broker'],
};
const portsPreferred = {
  MYSQL: 13_306,
  REDIS: 16_379,
  NAMESRV: 19_876,
  PROXY: 18_081,
  BROKER: 20_911,
} as const;
const readyTimeoutSeconds = 300;
const stopSeconds = 15;

/** Whether an engine answers here and knows `compose`. */
export async function composeAnswers(root: string): Promise<boolean> {
  for (const args of [['info'], ['compose', 'version']]) {
    if ((await runProgram('docker', args, { cwd: root })).code !== 0) return false;
  }
  return true;
}

/**
 * Bring up infra/compose.yaml, or the part that is wanted, and wait until it is healthy. The project
 * is named after this folder, so two clones have two sets of containers and volumes. Containers
 * that a killed start left running are used again.
 */
export async function openCompose(
  root: string,
  wanted: readonly ServiceName[],
  print: Printer,
): Promise<ComposeServices> {
  const ports = await choosePorts(root, print);
  const env = { ...process.env };
  for (const [name, port] of Object.entries(ports)) env[`LAPSE_COMPOSE_${name}_PORT`] = String(port);
  const compose = composeCommand(root, env);
  const names = wanted.flatMap((name) => containers[name]);
  await compose(['up', '--detach', '--wait', '--wait-timeout', String(readyTimeoutSeconds), ...names]);
  return {
    mysqlUrl: `mysql://root@127.0.0.1:${ports.MYSQL}/lapse`,
    redisUrl: `redis://127.0.0.1:${ports.REDIS}`,
    rocketmqEndpoints: `127.0.0.1:${ports.PROXY}`,
    rocketmqNamesrv: `127.0.0.1:${ports.NAMESRV}`,
    close: () => compose(['stop', '--timeout', String(stopSeconds)]),
  };
}

/** Wipe the volumes of this folder's containers. Does nothing where no engine answers. */
export async function resetCompose(root: string): Promise<void> {
  if (await composeAnswers(root)) await composeCommand(root, process.env)(['down', '--volumes']);
}

/** Containers of an earlier run hold the preferred ports themselves: then those are right. */
async function choosePorts(
  root: string,
  print: Printer,
): Promise<Record<keyof typeof portsPreferred, number>> {
  const running = await runProgram('docker', ['compose', '-p', projectName(root), 'ps', '--quiet'], {
    cwd: root,
  });
  const free = running.code === 0 && running.output.trim() !== '' ? keep : freePort;
  const [MYSQL, REDIS, NAMESRV, PROXY, BROKER] = await Promise.all([
    free(portsPreferred.MYSQL, print.line),
    free(portsPreferred.REDIS, print.line),
    free(portsPreferred.NAMESRV, print.line),
    free(portsPreferred.PROXY, print.line),
    free(portsPreferred.BROKER, print.line),
  ]);
  return { MYSQL, REDIS, NAMESRV, PROXY, BROKER };
}

const keep: typeof freePort = async (port = 0) => port;

function composeCommand(root: string, env: NodeJS.ProcessEnv): (args: readonly string[]) => Promise<void> {
  const file = join(root, 'infra', 'compose.yaml');
  return async (args) => {
    const all = ['compose', '-p', projectName(root), '-f', file, ...args];
    const { code, output } = await runProgram('docker', all, { cwd: root, env });
    if (code !== 0) throw new Error(`docker compose ${args[0]} failed:\n${output.slice(-4_000)}`);
  };
}

function projectName(root: string): string {
  return `lapse-${createHash('sha256').update(root).digest('hex').slice(0, 8)}`;
}
