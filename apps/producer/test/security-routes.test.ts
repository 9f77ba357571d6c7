import { problemView } from '@lapse/contracts';
import type { PaymentProvider } from '@lapse/payments';
import { queryDatabase } from '@lapse/testing';
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestApi, openTestStores, type TestApi, type TestRequest, type TestStores } from './test-api.ts';

interface Operation {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly secured: boolean;
  readonly body: { readonly additionalProperties?: unknown } | undefined;
}

/** The part of an OpenAPI operation that is looked at here. */
interface Described {
  readonly security?: readonly object[];
  readonly requestBody?: {
    readonly content: Record<string, { readonly schema: NonNullable<Operation['body']> }>;
  };
}

const mustNotBeAsked = () => Promise.reject(new Error('the provider was asked for somebody else'));
/** A refused request must not reach the payment provider. */
const neverAsked: PaymentProvider = {
  name: 'simulator',
  createAttempt: mustNotBeAsked,
  cancelAttempt: mustNotBeAsked,
  refund: mustNotBeAsked,
  verifyWebhook: () => undefined,
  close: async () => undefined,
};

let stores: TestStores;
let api: TestApi;
/** Every route there is, as the API itself describes them: a new one is tested without a word here. */
let operations: Operation[];
beforeAll(async () => {
  stores = await openTestStores();
  api = await openTestApi(stores, { provider: neverAsked });
  operations = await readOperations();
});
afterAll(async () => {
  await api?.close();
  await stores?.close();
});

async function readOperations(): Promise<Operation[]> {
  const { paths } = (await api.send({ url: '/openapi.json' })).json();
  return Object.entries<Record<string, Described>>(paths).flatMap(([path, methods]) =>
    Object.entries<Described>(methods).map(([method, { security, requestBody }]) => ({
      method: method.toUpperCase() as Operation['method'],
      path,
      secured: (security ?? []).some((scheme) => 'bearer' in scheme),
      body: requestBody?.content['application/json']?.schema,
    })),
  );
}

/** Bodies that pass the schema of their route, so that a refusal is about the order. */
const validBodies: Readonly<Record<string, object>> = {
  '/v1/orders/{id}/extend': { byMs: 60_000, reason: 'x' },
};
/** One that its route takes: orders and processes have UUIDs, all else a number. */
const idFor = ({ path }: Operation) => (/(orders|workers)\/\{id\}/.test(path) ? v7() : 1);
const ask = (operation: Operation, id: string | number, as?: string, change: Partial<TestRequest> = {}) =>
  api.send({
    method: operation.method,
    url: operation.path.replace('{id}', String(id)),
    as,
    ...(operation.body ? { body: validBodies[operation.path] ?? {} } : {}),
    headers: { 'idempotency-key': 'security' },
    ...change,
  });

describe('every route', () => {
  it('that needs a token says nothing without one', async () => {
    const secured = operations.filter((operation) => operation.secured);
    expect(secured.length).toBeGreaterThanOrEqual(11);
    for (const operation of secured) {
      const reply = await ask(operation, idFor(operation));
      expect([operation.path, reply.statusCode]).toEqual([operation.path, 401]);
    }
  });

  it('that needs none is on this list', () => {
    const open = operations.filter(({ secured }) => !secured).map(({ method, path }) => `${method} ${path}`);
    for (const route of open)
      expect(route).toMatch(/^GET \/v1\/activities(\/\{id\})?$|^POST \/v1\/payments\//);
  });

  it("with an order's id: another buyer gets the answer for an order that does not exist, or 403", async () => {
    const activity = await api.createActivity();
    const order = (await api.placeOrder(activity.id, 'ann', 'k')).json();
    const before = await queryDatabase(stores.mysqlUrl, 'SELECT * FROM orders');
    const routes = operations.filter(({ path }) => path.startsWith('/v1/orders/{id}'));
    expect(routes.length).toBeGreaterThanOrEqual(4);
    for (const operation of routes) {
      const theirs = await ask(operation, order.id, 'mallory');
      const nobodys = await ask(operation, v7(), 'mallory');
      expect([operation.path, [403, 404].includes(theirs.statusCode)]).toEqual([operation.path, true]);
      const { instance: _1, ...refusal } = problemView.parse(theirs.json());
      const { instance: _2, ...absence } = problemView.parse(nobodys.json());
      expect(refusal).toEqual(absence);
    }
    expect(await queryDatabase(stores.mysqlUrl, 'SELECT * FROM orders')).toEqual(before);
  });

  it('refuses a field that its body does not have: nothing can be assigned on the side', async () => {
    const bodies = operations.filter(({ body, secured }) => body && secured);
    expect(bodies.length).toBeGreaterThanOrEqual(5);
    for (const operation of bodies) {
      const body = { ...validBodies[operation.path], userId: 'bob', status: 'PAID', isOperator: true };
      const reply = await ask(operation, idFor(operation), 'boss', { operator: true, body });
      const fields = reply.json().errors?.map(({ field }: { field: string }) => field) ?? [];
      expect([operation.path, reply.statusCode, fields]).toEqual([
        operation.path,
        400,
        expect.arrayContaining(['body.userId', 'body.status', 'body.isOperator']),
      ]);
    }
  });

  it('takes no objects, arrays or prototypes where a value belongs', async () => {
    const hostile: readonly unknown[] = [
      { $gt: 0 },
      { id: 1 },
      [1],
      [[1]],
      { toString: 'x' },
      { toJSON: 'x' },
      { length: 1, 0: 1 },
      { constructor: { prototype: { isOperator: true } } },
      true,
      '1 OR 1=1',
    ];
    const activity = await api.createActivity();
    for (const value of hostile) {
      for (const [method, url, body] of [
        ['POST', `/v1/activities/${activity.id}/orders`, { quantity: value }],
        ['PATCH', `/v1/activities/${activity.id}`, { capacity: value, reason: 'x' }],
        ['POST', '/v1/activities', { name: 'x', capacity: value, priceMinor: 1, currency: 'CNY' }],
        ['POST', `/v1/orders/${v7()}/extend`, { until: value, reason: 'x' }],
        ['POST', '/v1/ops/parked/drop', { ids: [value], reason: 'x' }],
      ] as const) {
        const headers = { 'idempotency-key': 'hostile' };
        const reply = await api.send({ method, url, body, operator: true, headers });
        expect([url, JSON.stringify(value), reply.statusCode]).toEqual([url, JSON.stringify(value), 400]);
      }
    }
    expect(({} as { isOperator?: boolean }).isOperator).toBeUndefined();
    expect((await api.orders.readActivity(activity.id))?.capacity).toBe(100);
  });
});

describe('names that are hostile to Redis and Lua', () => {
  it.each([
    '{1}:stock',
    'activity:{1}:stock',
    '} {',
    '*',
    '[a-z]',
    ':h:1:0:somebody',
    's:1:0:somebody',
    "' .. redis.call('FLUSHALL') .. '",
    ']] redis.call("FLUSHALL") --[[',
    '$5 FLUSHALL',
    '🪑',
  ])('a buyer called %j holds one place, and nobody else', async (name) => {
    const activity = await api.createActivity({ capacity: 10 });
    const order = await api.placeOrder(activity.id, name, 'k');
    expect(order.statusCode, order.body).toBe(201);
    expect(await api.stock.readCounts(activity.id)).toMatchObject({ stock: 9, held: 1, sold: 0, users: 1 });
    const other = await api.placeOrder(activity.id, `${name}2`, 'k');
    expect(other.statusCode).toBe(201);
    await api.send({ method: 'POST', url: `/v1/orders/${order.json().id}/cancel`, as: name });
    expect(await api.stock.readCounts(activity.id)).toMatchObject({ stock: 9, held: 1, users: 1 });
  });
});
