import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CreateActivityBody, OrderView } from '@lapse/contracts';
import { freePort } from '@lapse/local-services';
import { openBroker, openShop, type Shop } from '@lapse/test-shop';
import { type SpawnedApp, spawnApp } from '@lapse/testing';
import { SignJWT } from 'jose';

const jwtSecret = 'a-secret-of-the-page-tests-and-of-nothing-else';
const webhookSecret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const simulatorKey = randomBytes(24).toString('base64url');

/** A whole shop: the real processes on the real stores and broker, and the page in front. */
export interface ShopProcesses {
  readonly shop: Shop;
  readonly pageUrl: string;
  readonly apiUrl: string;
  readonly page: SpawnedApp;
  tokenFor(sub: string, scope?: string): Promise<string>;
  openActivity(body: Partial<CreateActivityBody>): Promise<number>;
  /** As a buyer of another browser would. */
  placeOrder(activityId: number, buyer: string): Promise<OrderView>;
  close(): Promise<void>;
}

const appsFolder = new URL('../../', import.meta.url);

export async function startShop(change: Record<string, string> = {}): Promise<ShopProcesses> {
  const shop = await openShop();
  const broker = await openBroker();
  const dir = mkdtempSync(join(tmpdir(), 'lapse-page-'));
  const running: SpawnedApp[] = [];
  const start = async (name: string, env: Record<string, string>): Promise<SpawnedApp> => {
    const app = spawnApp(new URL(`${name}/`, appsFolder), env);
    running.push(app);
    await app.waitForOutput('"started"');
    return app;
  };
  const base = {
    LAPSE_MYSQL_URL: shop.databaseUrl,
    LAPSE_REDIS_URL: shop.redisUrl,
    ...broker.env,
    LAPSE_JWT_SECRET: jwtSecret,
    LAPSE_PAYMENT_WEBHOOK_SECRET: webhookSecret,
    LAPSE_INVISIBLE: '10s',
  };
  // The simulator needs the API's port, and the API the simulator's: the one that is asked later gets a fixed one.
  const apiPort = await freePort();
  const apiUrl = `http://127.0.0.1:${apiPort}`;
  const simulator = await start('payment-simulator', {
    LAPSE_SIM_API_KEY: simulatorKey,
    LAPSE_SIM_PORT: '0',
    LAPSE_SIM_DIR: dir,
    LAPSE_SIM_WEBHOOK_URL: `${apiUrl}/v1/payments/webhook`,
    LAPSE_SIM_WEBHOOK_SECRET: webhookSecret,
  });
  const payment = {
    LAPSE_PAYMENT_PROVIDER: 'simulator',
    LAPSE_PAYMENT_URL: `http://127.0.0.1:${portIn(simulator, 'payment simulator listens')}`,
    LAPSE_PAYMENT_API_KEY: simulatorKey,
  };
  await Promise.all([
    start('producer', { ...base, ...payment, LAPSE_HTTP_PORT: String(apiPort) }),
    start('reminder', base),
    start('closer', base),
    start('settler', { ...base, ...payment }),
  ]);
  const page = await start('console', {
    ...base,
    LAPSE_CONSOLE_PORT: '0',
    LAPSE_CONSOLE_PRODUCER_URL: apiUrl,
    LAPSE_CONSOLE_COOKIE_SECRET: randomBytes(32).toString('base64url'),
    LAPSE_CONSOLE_GUESTS: 'true',
    ...change,
  });
  const tokenFor = (sub: string, scope = ''): Promise<string> =>
    new SignJWT({ scope })
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject(sub)
      .setAudience('lapse')
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode(jwtSecret));
  const post = async <T>(path: string, token: string, body: object): Promise<T> => {
    const response = await fetch(`${apiUrl}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  return {
    shop,
    page,
    apiUrl,
    pageUrl: `http://127.0.0.1:${portIn(page, 'page listens')}`,
    tokenFor,
    openActivity: async (body) => {
      const wanted = { name: 'Evening show', capacity: 10, priceMinor: 8_800, currency: 'CNY', ...body };
      return (await post<{ id: number }>('/v1/activities', await tokenFor('boss', 'operator'), wanted)).id;
    },
    placeOrder: async (activityId, buyer) =>
      post<OrderView>(`/v1/activities/${activityId}/orders`, await tokenFor(buyer), { quantity: 1 }),
    close: async () => {
      for (const app of running) app.kill('SIGTERM');
      await Promise.all(running.map((app) => app.exited));
      await broker.sender.close();
      await shop.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function portIn(app: SpawnedApp, message: string): number {
  const line = app
    .output()
    .split('\n')
    .find((text) => text.includes(message));
  return Number(JSON.parse(line ?? '{}').port);
}
