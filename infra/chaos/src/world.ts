import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, lockFolder, reapLeftovers } from '@lapse/local-services';
import {
  type CommandTools,
  type DemoSecrets,
  prepareStores,
  readSecrets,
  rootDir,
  sharedAppEnv,
} from '@lapse/stack';
import { type AppOptions, type ChaosApp, openApp } from './open-app.ts';
import { type ChaosServices, openServices } from './open-services.ts';

/** Everything that runs, and what it needs. */
export interface World {
  readonly services: ChaosServices;
  readonly apps: readonly ChaosApp[];
  readonly secrets: DemoSecrets;
  /** The settings of every app, straight to the services; for the command line. */
  readonly env: NodeJS.ProcessEnv;
  /** Of the payment simulator, straight: buyers pay there, whatever happens to the shop's own way to it. */
  readonly providerUrl: string;
  stopApps(): Promise<void>;
  close(): Promise<void>;
  /** SIGKILL to every child. */
  kill(): void;
}

/** What runs, and how. */
export interface WorldPlan {
  /** Under the root of the repository; with fresh data each time. */
  readonly folder: string;
  /** How many processes of each app, in the order of their start; producers first. */
  readonly apps: Readonly<Record<string, number>>;
  /** On top of what each app is given anyway. */
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Bring up services, schema, topics and apps, in the folder of the plan, with fresh data. A wish to stop cuts it short:
 * what is up by then is stopped, and it rejects.
 */
export async function openWorld(
  { folder, apps: wanted, settings }: WorldPlan,
  { keep, print, signal, onKill }: CommandTools & { readonly keep: boolean },
): Promise<World> {
  const dir = join(rootDir, folder);
  const lock = lockFolder(dir);
  const logs = join(dir, 'logs');
  await reapLeftovers(dir, { log: print.warn });
  wipe(dir);
  mkdirSync(logs, { recursive: true });
  let services: ChaosServices | undefined;
  let apps: readonly ChaosApp[] = [];
  const kill = (): void => {
    for (const { kept } of apps) kept.service.kill('SIGKILL');
    services?.kill();
  };
  onKill(kill);
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
    if (!keep) rmSync(dir, { recursive: true, force: true });
  };
  try {
    services = await print.step('services', 'services up', () => openServices(dir, print, signal));
    const secrets = await readSecrets(join(dir, 'secrets.json'), {});
    const providerPort = await freePort();
    const simulator = { port: providerPort, dir: join(dir, 'payments') };
    const env = {
      ...sharedAppEnv(plainEnv(), services, secrets, 0, simulator),
      ...settings,
    };
    await prepareStores(env, logs, print);
    signal.throwIfAborted();
    apps = await openApps(wanted, { services, providerPort, logs, env });
    await print.step('apps', `${apps.length} processes ready`, () =>
      Promise.all(apps.map(({ kept }) => kept.service.start())),
    );
    signal.throwIfAborted();
    const providerUrl = `http://127.0.0.1:${providerPort}`;
    return { services, apps, secrets, env, providerUrl, stopApps, close, kill };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openApps(
  wanted: WorldPlan['apps'],
  options: Omit<AppOptions, 'app' | 'number'>,
): Promise<ChaosApp[]> {
  const apps: ChaosApp[] = [];
  for (const [app, count] of Object.entries(wanted)) {
    for (let number = 1; number <= count; number += 1) {
      // Producers come first: the provider sends its events to one of them, and again when it is down.
      const LAPSE_SIM_WEBHOOK_URL = `${apps[0]?.apiUrl ?? 'http://127.0.0.1'}/v1/payments/webhook`;
      const env = { ...options.env, LAPSE_SIM_WEBHOOK_URL };
      apps.push(await openApp({ ...options, env, app, number }));
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
function wipe(dir: string): void {
  for (const name of readdirSync(dir)) {
    if (name !== 'lock.json') rmSync(join(dir, name), { recursive: true, force: true });
  }
}
