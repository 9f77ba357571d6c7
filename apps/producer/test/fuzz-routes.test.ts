import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { problemView } from '@lapse/contracts';
import fc from 'fast-check';
import { v7 } from 'uuid';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestApi, openTestStores, signedWebhook, type TestApi, type TestStores } from './test-api.ts';

/** A JSON schema, as far as the API's own description uses it. */
interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
}
interface Operation {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly body: Schema | undefined;
  readonly query: readonly { readonly name: string; readonly schema: Schema }[];
}
interface Described {
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Schema }> };
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly schema: Schema }[];
}

let stores: TestStores;
let api: TestApi;
let operations: Operation[];
let activityId: number;
let orderId: string;
const unhandled: unknown[] = [];
const note = (reason: unknown) => void unhandled.push(reason);
beforeAll(async () => {
  process.on('unhandledRejection', note);
  stores = await openTestStores();
  api = await openTestApi(stores);
  activityId = (await api.createActivity({ capacity: 100_000, quantityMax: 100 })).id;
  orderId = (await api.placeOrder(activityId, 'ann', 'k')).json().id;
  const { paths } = (await api.send({ url: '/openapi.json' })).json();
  operations = Object.entries<Record<string, Described>>(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody, parameters = [] }]) => ({
      method: method.toUpperCase() as Operation['method'],
      path,
      body: requestBody?.content['application/json']?.schema,
      query: parameters.filter((parameter) => parameter.in === 'query'),
    })),
  );
});
afterAll(async () => {
  process.off('unhandledRejection', note);
  await api?.close();
  await stores?.close();
});

const hostile = fc.oneof(
  fc.constantFrom<unknown>(
    ...[null, true, '', ' ', '\u0000', '\ud800', '../..', '%', "' OR 1=1 --", '{1}', '9'.repeat(400)],
    ...[-1, 0, -0, 0.1, 1e21, 2 ** 53, 1e-300, {}, [], [[]], [null], { $gt: 0 }, { toString: 1 }],
    ...['2026-02-30T00:00:00Z', '+275760-09-13T00:00:00Z', '0000-01-01T00:00:00Z', 'level:19', '1e3d'],
  ),
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
);

/** Mostly what the schema asks for, so that requests get deep; now and then anything at all. */
function fromSchema(schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 6, arbitrary: fitting(schema) }, { weight: 1, arbitrary: hostile });
}

function fitting(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(fitting));
  switch (schema.type) {
    case 'object':
      return fc.record(
        Object.fromEntries(
          Object.entries(schema.properties ?? {}).map(([name, part]) => [name, fromSchema(part)]),
        ),
        { requiredKeys: Object.keys(schema.properties ?? {}).slice(0, 2) },
      );
    case 'array':
      return fc.array(fromSchema(schema.items ?? {}), { maxLength: 5 });
    case 'integer':
    case 'number': {
      const min = Math.max(schema.minimum ?? 0, -1_000);
      return fc.integer({ min, max: Math.max(min, Math.min(schema.maximum ?? 1_000, 1_000)) });
    }
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return fc.oneof(
        fc.constantFrom('x', '10m', 'CNY', '2030-01-01T00:00:00Z', 'payment.captured', orderId),
        fc.string({ maxLength: 40 }),
      );
  }
}

const pathId = () =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom<string>(orderId, String(activityId)) },
    { weight: 1, arbitrary: fc.constantFrom<string>(v7(), '0', '-1', '9'.repeat(16), '%00', '{1}', '..') },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 20 }) },
  );

/** One request of any kind; its answer must be one that the API means. */
async function behaves(operation: Operation, id: string, body: unknown, query: object, as: string) {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    text.append(name, typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
  }
  const url = `${operation.path.replace('{id}', encodeURIComponent(id.toWellFormed()))}?${text}`;
  const payload = JSON.stringify(body) ?? '';
  const isWebhook = operation.path.includes('webhook');
  const reply = isWebhook
    ? await api.app.inject({ ...signedWebhook(payload), url })
    : await api.send({
        method: operation.method,
        url,
        as,
        operator: as === 'boss',
        headers: { 'idempotency-key': `k${payload.length}`, 'content-type': 'application/json' },
        ...(operation.body ? { body: payload } : {}),
      });
  const said = `${operation.method} ${url} ${payload} -> ${reply.statusCode} ${reply.body}`;
  expect(reply.statusCode < 500 || reply.statusCode === 503, said).toBe(true);
  if (reply.statusCode >= 400) problemView.parse(reply.json());
}

function requests(operation: Operation) {
  return fc.tuple(
    pathId(),
    fromSchema(operation.body ?? {}),
    fc.record(Object.fromEntries(operation.query.map(({ name, schema }) => [name, fromSchema(schema)])), {
      requiredKeys: [],
    }),
    fc.constantFrom('ann', 'boss', 'mallory'),
  );
}

it('every route there is answers whatever is sent: no 5xx but 503, every refusal a problem document', async () => {
  expect(operations.length).toBeGreaterThanOrEqual(13);
  for (const operation of operations) {
    await fc.assert(
      fc.asyncProperty(requests(operation), ([id, body, query, as]) =>
        behaves(operation, id, body, query, as),
      ),
      { numRuns: 60 },
    );
  }
});

it('negative control: a route that fails is found by the same check', async () => {
  const failing = { readOrder: api.orders.readOrder };
  const orders = api.orders as { readOrder: typeof api.orders.readOrder };
  orders.readOrder = () => Promise.reject(new Error('a fault of ours'));
  const operation = operations.find(({ method, path }) => method === 'GET' && path === '/v1/orders/{id}');
  if (!operation) throw new Error('no such route');
  try {
    await expect(behaves(operation, orderId, undefined, {}, 'ann')).rejects.toThrow('500');
  } finally {
    orders.readOrder = failing.readOrder;
  }
});

it('thousands of such requests leave the memory as it was, and no rejection unhandled', async () => {
  setFlagsFromString('--expose_gc');
  const collect = runInNewContext('gc') as () => void;
  const heapMb = () => {
    collect();
    return process.memoryUsage().heapUsed / 1_048_576;
  };
  const round = async (seed: number) => {
    for (const operation of operations) {
      const samples = fc.sample(requests(operation), { numRuns: 70, seed });
      for (let at = 0; at < samples.length; at += 10) {
        await Promise.all(
          samples.slice(at, at + 10).map(([id, body, query, as]) => behaves(operation, id, body, query, as)),
        );
      }
    }
  };
  // The first two rounds fill caches and compile code.
  await round(1);
  await round(2);
  const before = heapMb();
  for (let seed = 3; seed <= 5; seed += 1) await round(seed);
  const after = heapMb();
  const count = operations.length * 70 * 3;
  process.stdout.write(`${count} requests: heap ${before.toFixed(1)} -> ${after.toFixed(1)} MB\n`);
  expect(after - before).toBeLessThan(15);
  expect(unhandled).toEqual([]);
});
