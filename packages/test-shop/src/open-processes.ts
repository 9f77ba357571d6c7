import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CreateActivityBody, OrderView } from '@lapse/contracts';
import { freePort } from '@lapse/local-services';
import { type SpawnedApp, spawnApp } from '@lapse/testing';
import { SignJWT } from 'jose';
import { openBroker } from './broker.ts';
import { openShop, type Shop } from './shop.ts';

const jwtSecret = 'a-secret-of-the-tests-and-of-nothing-else';
const webhookSecret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const simulatorKey = randomBytes(24).toString('base64url');
const appsFolder = new URL('../../../apps/', import.meta.url);

/** A whole shop: producer, reminder, closer, settler and payment simulator as processes, on stores and topics of their own. */
export interface ShopProcesses {
  readonly shop: Shop;
  readonly apiUrl: string;
  /** The settings that they share, and those of the payment provider. */
  readonly env: Readonly<Record<string, string>>;
  /** One more process beside them; it ends with them. One that does not start ends them all: nobody else would. */
  start(app: string, env: Readonly<Record<string, string>>): Promise<SpawnedApp>;
  tokenFor(sub: string, scope?: string): Promise<string>;
  openActivity(body: Partial<CreateActivityBody>): Promise<number>;
  /** As a buyer would. */
  placeOrder(activityId: number, buyer: string): Promise<OrderView>;
  close(): Promise<void>;
}

export async function openProcesses(): Promise<ShopProcesses> {
  const shop = await openShop();
  const broker = await openBroker();
  const dir = mkdtempSync(join(tmpdir(), 'lapse-shop-'));
  const running: SpawnedApp[] = [];
  const closeAll = async (): Promise<void> => {
    for (const app of running) app.kill('SIGTERM');
    await Promise.all(running.map((app) => app.exited));
    await broker.sender.close();
    await shop.close();
    rmSync(dir, { recursive: true, force: true });
  };
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= closeAll();
    return closed;
  };
  const start = async (app: string, env: Readonly<Record<string, string>>): Promise<SpawnedApp> => {
    const started = spawnApp(new URL(`${app}/`, appsFolder), env);
    running.push(started);
    try {
      await started.waitForOutput('"started"');
    } catch (error) {
      await close();
      throw error;
    }
    return started;
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
  const env = {
    LAPSE_MYSQL_URL: shop.databaseUrl,
    LAPSE_REDIS_URL: shop.redisUrl,
    ...broker.env,
    LAPSE_JWT_SECRET: jwtSecret,
    LAPSE_PAYMENT_WEBHOOK_SECRET: webhookSecret,
    LAPSE_PAYMENT_PROVIDER: 'simulator',
    LAPSE_PAYMENT_URL: `http://127.0.0.1:${portIn(simulator, 'payment simulator listens')}`,
    LAPSE_PAYMENT_API_KEY: simulatorKey,
    LAPSE_INVISIBLE: '10s',
    LAPSE_HTTP_PORT: String(apiPort),
  };
  await Promise.all(['producer', 'reminder', 'closer', 'settler'].map((app) => start(app, env)));
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
    apiUrl,
    env,
    start,
    tokenFor,
    openActivity: async (body) => {
      const wanted = { name: 'Evening show', capacity: 10, priceMinor: 8_800, currency: 'CNY', ...body };
      return (await post<{ id: number }>('/v1/activities', await tokenFor('boss', 'operator'), wanted)).id;
    },
    placeOrder: async (activityId, buyer) =>
      post<OrderView>(`/v1/activities/${activityId}/orders`, await tokenFor(buyer), { quantity: 1 }),
    close,
  };
}

/** On which port a process said that it listens. */
export function portIn(app: SpawnedApp, message: string): number {
  const line = app
    .output()
    .split('\n')
    .find((text) => text.includes(message));
  return Number(JSON.parse(line ?? '{}').port);
}
