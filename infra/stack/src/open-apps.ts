import { join } from 'node:path';
import { createLocalService, freePort, type LocalService, supervise } from '@lapse/local-services';
import type { Closable } from '@lapse/runtime';
import { nodeArgs } from '@lapse/testing';
import { type AppName, opsPortsPreferred } from './app-env.ts';
import { keepRunning } from './keep-running.ts';
import type { Printer } from './print.ts';

export interface Apps extends Closable {
  readonly opsUrls: Readonly<Record<string, string>>;
  kill(): void;
}

export interface AppsOptions {
  readonly names: readonly AppName[];
  readonly root: string;
  /** Each app's log and the list of its process ids. */
  readonly logs: string;
  readonly env: NodeJS.ProcessEnv;
  readonly print: Printer;
  /** Stops the start; the apps that run by then are stopped. */
  readonly signal: AbortSignal;
}

const readyTimeoutMs = 60_000;
const probeTimeoutMs = 2_000;
/** Above the apps' own limit (8 s), so that they end by themselves if they can. */
const stopGraceMs = 9_000;

/**
 * Start every app as a process of its own, side by side, and wait until each says that it is ready.
 * From then on one that dies is started again with back-off.
 * @throws {LocalServiceError} with the last lines of its log, when one does not become ready.
 */
export async function openApps({ names, root, logs, env, print, signal }: AppsOptions): Promise<Apps> {
  const log = (line: string): void => print.line(`  ${line}`);
  const ports = await chooseOpsPorts(names, log);
  const services = names.map((name) => createApp({ name, root, logs, env, port: ports.get(name) ?? 0 }));
  const close = async (): Promise<void> => {
    for (const watch of watches) watch.stop();
    await Promise.all(
      services.map((service) =>
        print.step(`stopping ${service.name}`, `${service.name} stopped`, service.close),
      ),
    );
  };
  let watches: { stop(): void }[] = [];
  const cutShort = (): void => void close();
  signal.addEventListener('abort', cutShort, { once: true });
  try {
    await Promise.all(
      services.map((service) => print.step(service.name, `${service.name} ready`, () => service.start())),
    );
  } catch (error) {
    await close();
    throw error;
  } finally {
    signal.removeEventListener('abort', cutShort);
  }
  watches = services.map((service) => supervise(service, keepRunning(print)));
  return {
    opsUrls: Object.fromEntries(names.map((name) => [name, `http://127.0.0.1:${ports.get(name)}`])),
    close,
    kill: () => {
      for (const service of services) service.kill('SIGKILL');
    },
  };
}

interface AppPlan {
  readonly name: AppName;
  readonly root: string;
  readonly logs: string;
  readonly env: NodeJS.ProcessEnv;
  readonly port: number;
}

function createApp({ name, root, logs, env, port }: AppPlan): LocalService {
  const service: LocalService = createLocalService({
    name,
    ports: { ops: port },
    programs: [
      {
        name,
        command: process.execPath,
        args: [...nodeArgs, join(root, 'apps', name, 'dist', 'main.js')],
        dir: logs,
        env: { ...env, LAPSE_OPS_PORT: String(port) },
        ports: [port],
        ready: () => isReady(`http://127.0.0.1:${port}/readyz`, () => service.pids),
        readyTimeoutMs,
        stopGraceMs,
      },
    ],
  });
  return service;
}

async function chooseOpsPorts(
  names: readonly AppName[],
  log: (line: string) => void,
): Promise<ReadonlyMap<AppName, number>> {
  const ports = new Map<AppName, number>();
  // One after the other: two that look at once may find the same port free.
  for (const name of names) ports.set(name, await freePort(opsPortsPreferred[name], log));
  return ports;
}

/** Ready, and itself: a second stack on this machine may have taken the port in the meantime. */
async function isReady(url: string, pids: () => readonly number[]): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(probeTimeoutMs) });
  const { pid } = (await response.json()) as { readonly pid?: number };
  return response.ok && pid !== undefined && pids().includes(pid);
}
