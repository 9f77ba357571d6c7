import { buyerNotice, shopEvent } from '@lapse/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestApi, openTestStores, type TestApi, type TestStores } from './test-api.ts';

let stores: TestStores;
let api: TestApi;
beforeAll(async () => {
  stores = await openTestStores();
  api = await openTestApi(stores);
});
afterAll(async () => {
  await api?.close();
  await stores?.close();
});

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

describe('the API’s own description', () => {
  it('is OpenAPI 3.1 with every route, its body, its answers and its problems', async () => {
    const description = (await api.send({ url: '/openapi.json' })).json();
    expect(description.openapi).toMatch(/^3\.1\./);
    expect(Object.keys(description.paths).sort()).toEqual([
      '/v1/activities',
      '/v1/activities/{id}',
      '/v1/activities/{id}/orders',
      '/v1/activities/{id}/pause',
      '/v1/activities/{id}/resume',
      '/v1/ops/effects',
      '/v1/ops/effects/redrive',
      '/v1/ops/findings',
      '/v1/ops/parked',
      '/v1/ops/parked/drop',
      '/v1/ops/parked/redrive',
      '/v1/ops/refunds',
      '/v1/ops/refunds/dismiss',
      '/v1/ops/refunds/pay',
      '/v1/ops/refunds/{id}/paid-by-hand',
      '/v1/ops/undelivered',
      '/v1/ops/undelivered/resend',
      '/v1/orders/{id}',
      '/v1/orders/{id}/cancel',
      '/v1/orders/{id}/extend',
      '/v1/orders/{id}/payments',
      '/v1/orders/{id}/timeline',
      '/v1/payments/stripe/webhook',
      '/v1/payments/webhook',
      '/v1/workers',
      '/v1/workers/{id}/pause',
      '/v1/workers/{id}/resume',
    ]);
    const create = description.paths['/v1/activities/{id}/orders'].post;
    expect(create.security).toEqual([{ bearer: [] }]);
    expect(create.requestBody.content['application/json'].schema).toMatchObject({
      properties: { quantity: { default: 1, minimum: 1 } },
      additionalProperties: false,
    });
    expect(create.parameters.map(({ name }: { name: string }) => name).sort()).toEqual([
      'id',
      'idempotency-key',
    ]);
    expect(Object.keys(create.responses).sort()).toEqual([
      '201',
      '400',
      '401',
      '403',
      '404',
      '409',
      '410',
      '422',
      '429',
      '503',
    ]);
    expect(create.responses['409'].content['application/problem+json'].schema).toEqual({
      $ref: '#/components/schemas/Problem',
    });
    expect(create.responses['409'].description).toContain('ALREADY_HOLDING');
    const references = [...JSON.stringify(description).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
    const unresolved = references.filter(([, name]) => !(String(name) in description.components.schemas));
    expect(unresolved).toEqual([]);
  });

  it('says of each field what it is for, and of a duration and a time how it is written', async () => {
    const { paths } = (await api.send({ url: '/openapi.json' })).json();
    const bodyOf = (path: string) => paths[path].post.requestBody.content['application/json'].schema;
    const { properties } = bodyOf('/v1/activities');
    for (const field of ['payWithinMs', 'remindAfterMs', 'paymentGraceMs']) {
      expect(properties[field]).toMatchObject({
        description: expect.stringContaining('"level:14" (10 minutes)'),
        examples: ['10m', 600_000, 'level:14'],
        default: expect.any(Number),
      });
    }
    for (const field of ['saleStartsAt', 'saleEndsAt', 'latePaymentPolicy', 'quantityMax', 'capacity']) {
      expect([field, properties[field].description]).toEqual([field, expect.any(String)]);
    }
    const extend = bodyOf('/v1/orders/{id}/extend').properties;
    expect(extend.byMs).toMatchObject({ description: expect.any(String), examples: expect.any(Array) });
    expect(extend.until.examples).toContain('2030-01-01T08:00:00+08:00');
    const [key] = paths['/v1/activities/{id}/orders'].post.parameters.filter(
      ({ name }: { name: string }) => name === 'idempotency-key',
    );
    expect(key).toMatchObject({ required: true, description: expect.stringContaining('repeat') });
  });

  it('shows what is posted to others: every type, the headers to verify, and an example that is one', async () => {
    const { webhooks } = (await api.send({ url: '/openapi.json' })).json();
    const shapes = { shopEvent, buyerNotice };
    expect(Object.keys(webhooks)).toEqual(Object.keys(shapes));
    for (const [name, shape] of Object.entries(shapes)) {
      const { requestBody, parameters } = webhooks[name].post;
      const { schema, example } = requestBody.content['application/json'];
      expect(shape.parse(example)).toEqual(example);
      expect(schema.properties.type.enum).toEqual(shape.shape.type.options);
      expect(schema.properties.data.properties).toHaveProperty('orderId');
      expect(parameters.map((parameter: { name: string }) => parameter.name)).toContain('webhook-signature');
    }
    const [events, notices] = [shopEvent, buyerNotice].map(({ shape }): string[] => shape.type.options);
    expect(events?.filter((type) => notices?.includes(type))).toEqual([]);
  });

  it('names 429 for every route, because the limit of an address is before it, or counts what it refuses', async () => {
    const { paths } = (await api.send({ url: '/openapi.json' })).json();
    const operations = Object.values<Record<string, Operation>>(paths).flatMap((methods) =>
      Object.values(methods),
    );
    expect(operations.length).toBeGreaterThan(15);
    const without = operations.filter(
      ({ responses }) => !responses['429']?.description.includes('TOO_MANY_REQUESTS'),
    );
    expect(without.map(({ operationId }) => operationId)).toEqual([]);
  });

  it('says of each write of an operator that it takes an Idempotency-Key, and what its reuse answers', async () => {
    const { paths } = (await api.send({ url: '/openapi.json' })).json();
    const isWrite = (path: string) => /^\/v1\/ops\/|\/(pause|resume)$/.test(path) && paths[path].post;
    const writes = Object.keys(paths).filter(isWrite);
    expect(writes).toHaveLength(11);
    for (const path of writes) {
      const { parameters, responses } = paths[path].post;
      expect(parameters.map(({ name }: { name: string }) => name)).toContain('idempotency-key');
      expect(responses['422'].description).toContain('IDEMPOTENCY_KEY_REUSED');
    }
  });

  it('has a page whose policy lets its own scripts run, and nothing else', async () => {
    const home = await api.send({ url: '/' });
    expect([home.statusCode, home.headers.location]).toEqual([302, '/docs/']);
    expect((await api.send({ url: '/docs' })).statusCode).toBe(200);
    const page = await api.send({ url: '/docs/' });
    expect(page.statusCode).toBe(200);
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain('upgrade-insecure-requests');
    expect(policy).not.toMatch(/script-src[^;]*unsafe/);
    for (const url of ['/docs/', '/docs/static/oauth2-redirect.html'])
      expect((await api.send({ url })).headers).toMatchObject({
        'content-type': expect.stringContaining('text/html'),
        'cross-origin-opener-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
      });
    for (const asset of page.body.matchAll(/(?:src|href)="([^"]+)"/g)) {
      const url = new URL(String(asset[1]), 'http://localhost/docs/').pathname;
      expect([url, (await api.send({ url })).statusCode]).toEqual([url, 200]);
    }
    const answer = await api.send({ url: '/v1/activities/1' });
    expect(answer.headers).toMatchObject({
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'SAMEORIGIN',
      'cross-origin-resource-policy': 'same-origin',
      'strict-transport-security': expect.stringContaining('max-age'),
    });
  });

  it('lists every problem code at the address that problems name as their type', async () => {
    const problem = (await api.send({ url: '/v1/activities/999999' })).json();
    const [path = '', code = ''] = String(problem.type).split('#');
    expect((await api.send({ url: path })).json()[code]).toMatchObject({
      status: problem.status,
      title: problem.title,
    });
  });
});
