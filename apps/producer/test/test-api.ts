import type { OutboxRow } from '@lapse/contracts';
import { type Activity, migrate, type OrderRepository, openOrderRepository } from '@lapse/order-repository';
import { openWebhookCheck, type PaymentProvider } from '@lapse/payments';
import { createLogger, type Logger } from '@lapse/runtime';
import { openStock, type Stock } from '@lapse/stock';
import { createTestDatabase, createTestRedis } from '@lapse/testing';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { SignJWT } from 'jose';
import { Webhook } from 'standardwebhooks';
import type { ApiDependencies } from '../src/api-dependencies.ts';
import { buildApp } from '../src/app.ts';
import { openAuthenticator } from '../src/authenticate.ts';
import { type CreatePorts, openCreatePorts } from '../src/create-ports.ts';
import { createSaleGate, type SaleGate } from '../src/sale-gate.ts';

export const jwtSecret = 'a-secret-of-the-tests-and-of-nothing-else';
export const webhookSecret = `whsec_${Buffer.from('another-secret-of-the-tests-alone').toString('base64')}`;
export const auth = { jwtSecret, audience: 'lapse' };
/** Errors are expected in these tests by the hundred; the log is not what they look at. */
export const log: Logger = createLogger('producer-test', 'fatal');

/** The real stores of one test file, migrated and empty. */
export async function openTestStores() {
  const database = await createTestDatabase();
  const redis = await createTestRedis();
  await migrate({ url: database.url }, log);
  return {
    mysqlUrl: database.url,
    redisUrl: redis.url,
    flushRedis: redis.flush,
    commandRedis: redis.command,
    close: async () => {
      await redis.close();
      await database.drop();
    },
  };
}
export type TestStores = Awaited<ReturnType<typeof openTestStores>>;

export interface TestApi {
  readonly app: FastifyInstance;
  readonly orders: OrderRepository;
  readonly stock: Stock;
  readonly create: CreatePorts;
  /** What a pause of this process shuts. */
  readonly gate: SaleGate;
  /** Outbox rows handed to the relay, in order. */
  readonly relayed: OutboxRow[];
  /** As a buyer (or `operator`), with a JSON body. */
  send(request: TestRequest): Promise<LightMyRequestResponse>;
  createActivity(change?: object): Promise<Activity>;
  placeOrder(activityId: number, buyer: string, key: string, body?: object): Promise<LightMyRequestResponse>;
  pay(event: object, options?: { id?: string; at?: Date; secret?: string }): Promise<LightMyRequestResponse>;
  close(): Promise<void>;
}

export interface TestRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'OPTIONS' | 'HEAD';
  readonly url: string;
  readonly as?: string | undefined;
  readonly operator?: boolean;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

interface TestApiOptions extends Partial<Pick<ApiDependencies, 'limits' | 'log' | 'trustProxy'>> {
  readonly batchMax?: number;
  readonly queueMax?: number;
  readonly secret?: string;
  readonly provider?: PaymentProvider | null;
}

/** The tests send from one address, as fast as they can. */
const noLimits = { countAddress: () => undefined, countBuyer: () => undefined };

/** One process's API on the given stores. Several on the same stores are several processes to each other. */
export async function openTestApi(
  stores: Pick<TestStores, 'mysqlUrl' | 'redisUrl'>,
  {
    batchMax = 256,
    queueMax = 5_000,
    secret = webhookSecret,
    provider = null,
    ...given
  }: TestApiOptions = {},
): Promise<TestApi> {
  const orders = await openOrderRepository({ url: stores.mysqlUrl, poolMax: 8, queryTimeoutMs: 5_000 }, log);
  const stock = await openStock({ url: stores.redisUrl, commandTimeoutMs: 1_000 }, log);
  const relayed: OutboxRow[] = [];
  const relay = { add: (row: OutboxRow) => void relayed.push(row) };
  const create = openCreatePorts({ orders, stock, relay, limits: { batchMax, queueMax }, log });
  const authenticate = openAuthenticator(auth);
  const gate = createSaleGate();
  const app = await buildApp({
    orders,
    stock,
    create,
    gate,
    relay,
    authenticate,
    payments: {
      provider,
      verifyWebhook: openWebhookCheck({ provider: 'none', webhookSecret: secret, timeoutMs: 1_000 }, null),
    },
    requestTimeoutMs: 10_000,
    limits: noLimits,
    log,
    ...given,
  });
  const send = async ({ method = 'GET', url, as, operator, body, headers = {} }: TestRequest) => {
    const token = as === undefined && !operator ? undefined : await tokenFor(as ?? 'operator', { operator });
    return app.inject({
      method,
      url,
      headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
      ...(body === undefined ? {} : { payload: body as object }),
    });
  };
  return {
    app,
    orders,
    stock,
    create,
    gate,
    relayed,
    send,
    createActivity: async (change = {}) => {
      const reply = await send({
        method: 'POST',
        url: '/v1/activities',
        operator: true,
        body: { ...activityBody, ...change },
      });
      if (reply.statusCode !== 201) throw new Error(reply.body);
      return reply.json();
    },
    placeOrder: (activityId, buyer, key, body = {}) =>
      send({
        method: 'POST',
        url: `/v1/activities/${activityId}/orders`,
        as: buyer,
        headers: { 'idempotency-key': key },
        body,
      }),
    pay: (event, options = {}) => app.inject(signedWebhook(JSON.stringify(event), options)),
    close: async () => {
      await app.close();
      await create.close();
      await stock.close();
      await orders.close();
    },
  };
}

export const activityBody = { name: 'Concert', capacity: 100, priceMinor: 5_000, currency: 'CNY' };

/** A valid token, unless told otherwise. */
export async function tokenFor(
  sub: string,
  options: { operator?: boolean | undefined; locale?: string; secret?: string; expiresIn?: string } = {},
): Promise<string> {
  return new SignJWT({
    ...(options.operator ? { scope: 'openid operator' } : {}),
    ...(options.locale === undefined ? {} : { locale: options.locale }),
  })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(sub)
    .setAudience('lapse')
    .setIssuedAt()
    .setExpirationTime(options.expiresIn ?? '5m')
    .sign(new TextEncoder().encode(options.secret ?? jwtSecret));
}

let webhooksSent = 0;

/** A webhook as the payment provider sends it. */
export function signedWebhook(
  rawBody: string,
  { id, at = new Date(), secret = webhookSecret }: { id?: string; at?: Date; secret?: string } = {},
) {
  webhooksSent += 1;
  const webhookId = id ?? `evt_${webhooksSent}`;
  return {
    method: 'POST' as const,
    url: '/v1/payments/webhook',
    headers: {
      'content-type': 'application/json',
      'webhook-id': webhookId,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign(webhookId, at, rawBody),
    },
    payload: rawBody,
  };
}

/** An event for an order as the API answered it. */
export function paymentEvent(
  order: { id: string; amountMinor: number; currency: string },
  change: { type?: string; paymentId?: string; amountMinor?: number; currency?: string } = {},
) {
  const { type = 'payment.captured', ...data } = change;
  return {
    type,
    timestamp: new Date().toISOString(),
    data: {
      paymentId: `pay_${order.id}`,
      orderId: order.id,
      amountMinor: order.amountMinor,
      currency: order.currency,
      ...data,
    },
  };
}
