import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { lockFolder, reapLeftovers } from '@lapse/local-services';
import {
  type DemoSecrets,
  type Printer,
  prepareStores,
  readSecrets,
  rootDir,
  sharedAppEnv,
} from '@lapse/stack';
import { type ChaosApp, openApp } from './open-app.ts';
import { type ChaosServices, openServices } from './open-services.ts';

/** Everything that runs, and what it needs. */
export interface World {
  readonly services: ChaosServices;
  readonly apps: readonly ChaosApp[];
  readonly secrets: DemoSecrets;
  stopApps(): Promise<void>;
  close(): Promise<void>;
  /** SIGKILL to every child. */
  kill(): void;
}

/** Two of a kind wherever two may work on one thing. */
const appsWanted = { producer: 2, reminder: 2, closer: 2, sweeper: 2 } as const;

/** Quick repairs, so that a short run sees many of them; the broker gives a dead worker's messages away early. */
const settings = {
  LAPSE_INVISIBLE: '10s',
  LAPSE_SWEEP_EVERY: '3s',
  LAPSE_SWEEP_GRACE: '4s',
  LAPSE_ORPHANS_EVERY: '5s',
  LAPSE_ORPHANS_AFTER: '20s',
  LAPSE_LOG_LEVEL: 'info',
} as const;

const chaosDir = join(rootDir, '.lapse-chaos');

/** Bring up services, schema, topics and apps, in .lapse-chaos/, with fresh data. */
export async function openWorld(print: Printer, keep: boolean, signal: AbortSignal): Promise<World> {
  const lock = lockFolder(chaosDir);
  const logs = join(chaosDir, 'logs');
  await reapLeftovers(chaosDir, { log: print.warn });
  wipe();
  mkdirSync(logs, { recursive: true });
  let services: ChaosServices | undefined;
  let apps: readonly ChaosApp[] = [];
  const kill = (): void => {
    for (const { kept } of apps) kept.service.kill('SIGKILL');
    services?.kill();
  };
  const stopApps = async (): Promise<void> => {
    await Promise.all(apps.map(({ kept }) => kept.stop()));
  };
  const close = async (): Promise<void> => {
    const stopped = stopApps();
    for (const { kept } of apps) kept.service.kill('SIGKILL');
    await stopped;
    await Promise.all(apps.map((app) => app.close()));
    await services?.stop();
    lock.release();
    if (!keep) rmSync(chaosDir, { recursive: true, force: true });
  };
  try {
    services = await print.step('services', 'services up', () => openServices(chaosDir, print, signal));
    const secrets = await readSecrets(join(chaosDir, 'secrets.json'), {});
    const env = { ...sharedAppEnv(plainEnv(), services, secrets, 0), ...settings };
    await prepareStores({ ...env, LAPSE_HTTP_PORT: '1' }, logs, print);
    apps = await openApps(services, logs, env);
    await print.step('apps', `${apps.length} processes ready`, () =>
      Promise.all(apps.map(({ kept }) => kept.service.start())),
    );
    return { services, apps, secrets, stopApps, close, kill };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openApps(services: ChaosServices, logs: string, env: NodeJS.ProcessEnv): Promise<ChaosApp[]> {
  const apps: ChaosApp[] = [];
  for (const [app, count] of Object.entries(appsWanted)) {
    for (let number = 1; number <= count; number += 1) {
      apps.push(await openApp({ app, number, services, logs, env }));
    }
  }
  return apps;
}

/** A person's own LAPSE_ settings must not change what is tested. */
function plainEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('LAPSE_') || name === 'LAPSE_TEST_RUN'),
  );
}

/** Everything but the lock, which this process holds. */
function wipe(): void {
  for (const name of readdirSync(chaosDir)) {
    if (name !== 'lock.json') rmSync(join(chaosDir, name), { recursive: true, force: true });
  }
}
