import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@lapse/local-services';
import { openBroker, openShop, type Shop, type TestBroker } from '@lapse/test-shop';
import { type SpawnedApp, spawnApp, waitUntil } from '@lapse/testing';
import type { ProcessName } from './effects.ts';

/** Everything that waits in production waits a little here, so that a life of an order takes seconds. */
const shortTimes = {
  LAPSE_RELAY_GATHER: '50ms',
  LAPSE_SWEEP_EVERY: '500ms',
  LAPSE_SWEEP_GRACE: '1500ms',
  LAPSE_REMIND_GRACE: '500ms',
  LAPSE_REPAIR_EVERY: '400ms',
  LAPSE_OUTBOX_AFTER: '400ms',
  LAPSE_EFFECTS_AFTER: '400ms',
  LAPSE_NOTIFY_EVERY: '400ms',
  LAPSE_NOTIFY_TIMEOUT: '500ms',
  LAPSE_ORPHANS_EVERY: '1s',
  LAPSE_ORPHANS_AFTER: '1500ms',
  LAPSE_SETTLE_EVERY: '400ms',
  LAPSE_SHOP_EVERY: '400ms',
  LAPSE_SHOP_TIMEOUT: '500ms',
  LAPSE_PAYMENT_TIMEOUT: '1s',
  LAPSE_INVISIBLE: '10s',
  LAPSE_RETAIN_ORDERS: '2d',
  LAPSE_RETAIN_SALES: '2d',
  LAPSE_RETAIN_ARCHIVE: '35d',
  LAPSE_RETAIN_EVERY: '400ms',
};
/** A point is passed within a few sales; restarts and redeliveries fit in as well. */
const deathTimeoutMs = 60_000;

export interface CrashWorld {
  readonly shop: Shop;
  readonly broker: TestBroker;
  readonly apiUrl: string;
  readonly jwtSecret: string;
  readonly webhookSecret: string;
  /** The payment provider, a simulator that is never killed here, and the key to it. */
  readonly providerUrl: string;
  readonly providerKey: string;
  /** Let this process die at the point from now on. */
  arm(name: ProcessName, point: string): Promise<void>;
  /** Resolves when the armed process has died at its point, and is up again, unarmed. */
  deathOf(name: ProcessName): Promise<void>;
  close(): Promise<void>;
}

/** A shop with its five processes, each killed and started again at will. Its stores and topics are its own. */
export async function openCrashWorld(): Promise<CrashWorld> {
  const shop = await openShop({ shopEvents: true });
  const broker = await openBroker();
  const port = await freePort();
  const jwtSecret = randomBytes(32).toString('base64url');
  const webhookSecret = `whsec_${randomBytes(32).toString('base64')}`;
  const provider = await startProvider(`http://127.0.0.1:${port}/v1/payments/webhook`, webhookSecret);
  const shopSystem = await startShopSystem();
  const env = {
    ...broker.env,
    ...shortTimes,
    ...provider.env,
    LAPSE_SHOP_WEBHOOK_URL: shopSystem.url,
    LAPSE_SHOP_WEBHOOK_SECRET: webhookSecret,
    LAPSE_WEBHOOK_ALLOW_PRIVATE: '127.0.0.1',
    LAPSE_MYSQL_URL: shop.databaseUrl,
    LAPSE_REDIS_URL: shop.redisUrl,
    LAPSE_HTTP_PORT: String(port),
    LAPSE_JWT_SECRET: jwtSecret,
    LAPSE_PAYMENT_WEBHOOK_SECRET: webhookSecret,
    // There is no such point: it makes the processes listen for the ones to come.
    LAPSE_CRASH_AT: 'none-yet',
  };
  const running = new Map<ProcessName, SpawnedApp>();
  const start = async (name: ProcessName): Promise<void> => {
    running.set(name, await startApp(name, env));
  };
  const runningOf = (name: ProcessName): SpawnedApp => {
    const found = running.get(name);
    if (!found) throw new Error(`${name} was not started`);
    return found;
  };
  const names = ['producer', 'reminder', 'closer', 'sweeper', 'settler'] as const;
  await Promise.all(names.map(start));
  return {
    shop,
    broker,
    apiUrl: `http://127.0.0.1:${port}`,
    jwtSecret,
    webhookSecret,
    providerUrl: provider.env.LAPSE_PAYMENT_URL,
    providerKey: provider.env.LAPSE_PAYMENT_API_KEY,
    arm: (name, point) => runningOf(name).dieAt(point),
    deathOf: async (name) => {
      const armed = runningOf(name);
      await waitUntil(() => !armed.isAlive(), {
        what: `${name} to die at its crash point:\n${armed.output().slice(-2_000)}`,
        timeoutMs: deathTimeoutMs,
      });
      const { signal } = await armed.exited;
      await start(name);
      if (signal !== 'SIGKILL')
        throw new Error(`${name} ended by ${signal}:\n${armed.output().slice(-2_000)}`);
    },
    close: async () => {
      await Promise.all([...running.values()].map(killApp));
      await provider.close();
      await shopSystem.close();
      await broker.sender.close();
      await shop.close();
    },
  };
}

/** The app as its container runs it, once it has written that it started. */
async function startApp(
  name: ProcessName | 'payment-simulator',
  env: Readonly<Record<string, string>>,
): Promise<SpawnedApp> {
  const app = spawnApp(new URL(`../../../apps/${name}/`, import.meta.url), env, 'compiled');
  await app.waitForOutput('"started"');
  return app;
}

async function killApp(app: SpawnedApp): Promise<void> {
  app.kill('SIGKILL');
  await app.exited;
}

/** The payment simulator as a process of its own, which sends its events to the shop. */
async function startProvider(webhookUrl: string, webhookSecret: string) {
  const dir = mkdtempSync(join(tmpdir(), 'lapse-crash-'));
  const port = await freePort();
  const key = randomBytes(24).toString('base64url');
  const running = await startApp('payment-simulator', {
    LAPSE_SIM_PORT: String(port),
    LAPSE_SIM_DIR: dir,
    LAPSE_SIM_API_KEY: key,
    LAPSE_SIM_WEBHOOK_URL: webhookUrl,
    LAPSE_SIM_WEBHOOK_SECRET: webhookSecret,
  });
  return {
    env: {
      LAPSE_PAYMENT_PROVIDER: 'simulator',
      LAPSE_PAYMENT_URL: `http://127.0.0.1:${port}`,
      LAPSE_PAYMENT_API_KEY: key,
    },
    close: async () => {
      await killApp(running);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The shop's own systems: they take every event. */
async function startShopSystem() {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(204).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
