import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, lockFolder, reapLeftovers } from '@lapse/local-services';
import {
  type DemoSecrets,
  type Printer,
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
  /** Of the payment simulator, straight: buyers pay there, whatever happens to the shop's own way to it. */
  readonly providerUrl: string;
  stopApps(): Promise<void>;
  close(): Promise<void>;
  /** SIGKILL to every child. */
  kill(): void;
}

/** Two of a kind wherever two may work on one thing. */
const appsWanted = {
  producer: 2,
  reminder: 2,
  closer: 2,
  sweeper: 2,
  settler: 2,
  'payment-simulator': 1,
} as const;

/** Quick repairs, so that a short run sees many of them; the broker gives a dead worker's messages away early. */
const settings = {
  LAPSE_INVISIBLE: '10s',
  LAPSE_SWEEP_EVERY: '3s',
  LAPSE_SWEEP_GRACE: '4s',
  LAPSE_ORPHANS_EVERY: '5s',
  LAPSE_ORPHANS_AFTER: '20s',
  LAPSE_PAYMENT_TIMEOUT: '3s',
  LAPSE_LOG_LEVEL: 'info',
} as const;

/** A provider on a bad day; what it does to a payment depends on the run's seed. */
const providerFaults = {
  ...{ apiError: 0.05, apiTimeout: 0.02, apiTimeoutMs: 5_000, processing: 0.15, processingMs: 2_500 },
  ...{ captureAtCancel: 0.25, wrongAmount: 0.03, wrongCurrency: 0.01, refundPending: 0.2 },
  ...{
    duplicate: 0.2,
    twin: 0.1,
    staleFailed: 0.1,
    reorder: 0.1,
    delay: 0.25,
    delayMs: 2_000,
    dropFirst: 0.1,
  },
} as const;

const chaosDir = join(rootDir, '.lapse-chaos');

/** Bring up services, schema, topics and apps, in .lapse-chaos/, with fresh data. */
export async function openWorld(
  { keep, seed }: { readonly keep: boolean; readonly seed: number },
  print: Printer,
  signal: AbortSignal,
): Promise<World> {
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
    const providerPort = await freePort();
    const simulator = { port: providerPort, dir: join(chaosDir, 'payments') };
    const env = {
      ...sharedAppEnv(plainEnv(), services, secrets, 0, simulator),
      ...settings,
      LAPSE_SIM_FAULTS: JSON.stringify({ seed, ...providerFaults }),
    };
    await prepareStores(env, logs, print);
    apps = await openApps({ services, providerPort, logs, env });
    await print.step('apps', `${apps.length} processes ready`, () =>
      Promise.all(apps.map(({ kept }) => kept.service.start())),
    );
    const providerUrl = `http://127.0.0.1:${providerPort}`;
    return { services, apps, secrets, providerUrl, stopApps, close, kill };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openApps(options: Omit<AppOptions, 'app' | 'number'>): Promise<ChaosApp[]> {
  const apps: ChaosApp[] = [];
  for (const [app, count] of Object.entries(appsWanted)) {
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
function wipe(): void {
  for (const name of readdirSync(chaosDir)) {
    if (name !== 'lock.json') rmSync(join(chaosDir, name), { recursive: true, force: true });
  }
}
