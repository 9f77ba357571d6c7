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

/**
 * A shop with its five processes, each killed and started again at will. Its stores and topics are its own.
 * @param change settings of all processes. Where one does not start, none is left behind.
 */
export async function openCrashWorld(change: Readonly<Record<string, string>> = {}): Promise<CrashWorld> {
  const shop = await openShop({ shopEvents: true });
  const broker = await openBroker();
  const shopSystem = await startShopSystem();
  const dir = mkdtempSync(join(tmpdir(), 'lapse-crash-'));
  const [port, providerPort] = [await freePort(), await freePort()];
  const apiUrl = `http://127.0.0.1:${port}`;
  const providerUrl = `http://127.0.0.1:${providerPort}`;
  const providerKey = randomBytes(24).toString('base64url');
  const jwtSecret = randomBytes(32).toString('base64url');
  const webhookSecret = `whsec_${randomBytes(32).toString('base64')}`;
  const env = {
    ...broker.env,
    ...shortTimes,
    LAPSE_SIM_PORT: String(providerPort),
    LAPSE_SIM_DIR: dir,
    LAPSE_SIM_API_KEY: providerKey,
    LAPSE_SIM_WEBHOOK_URL: `${apiUrl}/v1/payments/webhook`,
    LAPSE_SIM_WEBHOOK_SECRET: webhookSecret,
    LAPSE_PAYMENT_PROVIDER: 'simulator',
    LAPSE_PAYMENT_URL: providerUrl,
    LAPSE_PAYMENT_API_KEY: providerKey,
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
    ...change,
  };
  const running = new Map<ProcessName | 'payment-simulator', SpawnedApp>();
  /** The app as its container runs it, once it has written that it started; one that has not is to be ended as well. */
  const start = async (name: ProcessName | 'payment-simulator'): Promise<void> => {
    const app = spawnApp(new URL(`../../../apps/${name}/`, import.meta.url), env, 'compiled');
    running.set(name, app);
    await app.waitForOutput('"started"');
  };
  const close = async (): Promise<void> => {
    await Promise.all([...running.values()].map(killApp));
    await shopSystem.close();
    await broker.sender.close();
    await shop.close();
    rmSync(dir, { recursive: true, force: true });
  };
  const runningOf = (name: ProcessName): SpawnedApp => {
    const found = running.get(name);
    if (!found) throw new Error(`${name} was not started`);
    return found;
  };
  const names = ['producer', 'reminder', 'closer', 'sweeper', 'settler', 'payment-simulator'] as const;
  try {
    await Promise.all(names.map(start));
  } catch (error) {
    // Nobody has them yet, so nobody else would end them.
    await close();
    throw error;
  }
  return {
    shop,
    broker,
    apiUrl,
    jwtSecret,
    webhookSecret,
    providerUrl,
    providerKey,
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
    close,
  };
}

async function killApp(app: SpawnedApp): Promise<void> {
  app.kill('SIGKILL');
  await app.exited;
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
