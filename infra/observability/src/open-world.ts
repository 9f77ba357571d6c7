import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@lapse/local-services';
import { openActivity, openBroker, openShop, type Shop } from '@lapse/test-shop';
import { type SpawnedApp, spawnApp, waitUntil } from '@lapse/testing';
import { SignJWT } from 'jose';

export const processNames = [
  ...(['producer', 'reminder', 'closer', 'sweeper', 'settler', 'console', 'payment-simulator'] as const),
];
export type ProcessName = (typeof processNames)[number];

/** A life of an order takes seconds here. */
const shortTimes = {
  LAPSE_RELAY_GATHER: '50ms',
  LAPSE_NOTIFY_EVERY: '200ms',
  LAPSE_SWEEPER_REPORT_EVERY: '500ms',
};
const activityTimes = { remindAfterMs: 1_500, payWithinMs: 4_000 };

export interface World {
  readonly shop: Shop;
  /** Place orders by the API, one buyer each, and wait until they are closed. @returns their ids. */
  sell(count: number): Promise<string[]>;
  scrape(name: ProcessName): Promise<string>;
  /** Stop every process as an operator would, so that each writes what it still has. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

/** All processes of Lapse, as their containers run them, on stores and topics of their own. */
export async function openWorld(env: Readonly<Record<string, string>> = {}): Promise<World> {
  const shop = await openShop();
  const broker = await openBroker();
  const dir = mkdtempSync(join(tmpdir(), 'lapse-observe-'));
  const jwtSecret = randomBytes(32).toString('base64url');
  const webhookSecret = `whsec_${randomBytes(32).toString('base64')}`;
  const key = randomBytes(24).toString('base64url');
  const [httpPort, consolePort, simulatorPort] = [await freePort(), await freePort(), await freePort()];
  const producerUrl = `http://127.0.0.1:${httpPort}`;
  const all = {
    ...broker.env,
    ...shortTimes,
    LAPSE_MYSQL_URL: shop.databaseUrl,
    LAPSE_REDIS_URL: shop.redisUrl,
    LAPSE_HTTP_PORT: String(httpPort),
    LAPSE_JWT_SECRET: jwtSecret,
    LAPSE_PAYMENT_PROVIDER: 'simulator',
    LAPSE_PAYMENT_URL: `http://127.0.0.1:${simulatorPort}`,
    LAPSE_PAYMENT_API_KEY: key,
    LAPSE_PAYMENT_WEBHOOK_SECRET: webhookSecret,
    LAPSE_SIM_PORT: String(simulatorPort),
    LAPSE_SIM_DIR: dir,
    LAPSE_SIM_API_KEY: key,
    LAPSE_SIM_WEBHOOK_URL: `${producerUrl}/v1/payments/webhook`,
    LAPSE_SIM_WEBHOOK_SECRET: webhookSecret,
    LAPSE_CONSOLE_PORT: String(consolePort),
    LAPSE_CONSOLE_PRODUCER_URL: producerUrl,
    LAPSE_CONSOLE_COOKIE_SECRET: randomBytes(32).toString('base64'),
    ...env,
  };
  const apps = new Map<ProcessName, SpawnedApp>();
  for (const name of processNames) {
    apps.set(name, spawnApp(new URL(`../../../apps/${name}/`, import.meta.url), all, 'compiled'));
  }
  const stop = async (): Promise<void> => {
    for (const app of apps.values()) app.kill('SIGTERM');
    await Promise.all([...apps.values()].map(({ exited }) => exited));
  };
  const close = async (): Promise<void> => {
    await stop();
    await broker.sender.close();
    await shop.close();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    await Promise.all([...apps.values()].map((app) => app.waitForOutput('"started"')));
  } catch (error) {
    // Nobody has them yet, so nobody else would end them.
    await close();
    throw error;
  }
  const activity = await openActivity(shop, 1_000, activityTimes);

  const tokenFor = (buyer: string): Promise<string> =>
    new SignJWT({})
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject(buyer)
      .setAudience('lapse')
      .setExpirationTime('5m')
      .sign(new TextEncoder().encode(jwtSecret));

  async function placeOrder(buyer: string): Promise<string> {
    const response = await fetch(`${producerUrl}/v1/activities/${activity.id}/orders`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await tokenFor(buyer)}`,
        'content-type': 'application/json',
        'idempotency-key': buyer,
      },
      body: '{}',
    });
    if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
    return ((await response.json()) as { id: string }).id;
  }

  return {
    shop,
    sell: async (count) => {
      const ids = await Promise.all(
        Array.from({ length: count }, (_, at) => placeOrder(`buyer-${at}-${Date.now()}`)),
      );
      const open = "SELECT COUNT(*) FROM orders WHERE status = 'PENDING'";
      await waitUntil(async () => (await shop.count(open)) === 0, {
        what: 'the orders to close',
        timeoutMs: 30_000,
      });
      await waitUntil(async () => (await shop.count('SELECT COUNT(*) FROM effect')) === 0, {
        what: 'the releases',
      });
      return ids;
    },
    scrape: async (name) => {
      const port = /"port":(\d+),"msg":"ops server listens"/.exec(apps.get(name)?.output() ?? '')?.[1];
      return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    },
    stop,
    close,
  };
}
