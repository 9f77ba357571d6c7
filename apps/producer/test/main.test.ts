import { createTopics } from '@lapse/messaging';
import { migrate, openOrderRepository } from '@lapse/order-repository';
import {
  checkInvariants,
  createTestDatabase,
  createTestRedis,
  queryDatabase,
  type SpawnedApp,
  spawnApp,
  testRocketmq,
  testTopicPrefix,
  waitUntil,
} from '@lapse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTcpGate } from './tcp-gate.ts';
import { activityBody, jwtSecret, log, tokenFor, webhookSecret } from './test-api.ts';

const root = new URL('..', import.meta.url);
let env: Record<string, string>;
let mysqlUrl: string;
let redisUrl: string;
let stopped: (() => Promise<void>)[] = [];
beforeAll(async () => {
  const database = await createTestDatabase();
  const redis = await createTestRedis();
  const { endpoints, namesrv } = testRocketmq();
  const topicPrefix = testTopicPrefix();
  await migrate({ url: database.url }, log);
  await createTopics({ endpoints, namesrv, topicPrefix, tls: false, requestTimeoutMs: 3_000 }, log);
  mysqlUrl = database.url;
  redisUrl = redis.url;
  env = {
    LAPSE_MYSQL_URL: database.url,
    LAPSE_REDIS_URL: redis.url,
    LAPSE_ROCKETMQ_ENDPOINTS: endpoints,
    LAPSE_ROCKETMQ_TOPIC_PREFIX: topicPrefix,
    LAPSE_HTTP_PORT: '0',
    LAPSE_JWT_SECRET: jwtSecret,
    LAPSE_PAYMENT_WEBHOOK_SECRET: webhookSecret,
  };
  stopped = [redis.close, database.drop];
});
afterAll(async () => {
  for (const stop of stopped) await stop();
});

/** The port in the log line that says so. */
function portIn(app: SpawnedApp, message: string): number {
  const line = app
    .output()
    .split('\n')
    .find((text) => text.includes(message));
  return Number(JSON.parse(line ?? '{}').port);
}

/** Start the real process and wait until it is ready. */
async function startProducer(change: Record<string, string> = {}) {
  const app = spawnApp(root, { ...env, ...change });
  await app.waitForOutput('"started"');
  const api = `http://127.0.0.1:${portIn(app, 'API listens')}`;
  const ops = `http://127.0.0.1:${portIn(app, 'ops server listens')}`;
  await waitUntil(async () => (await fetch(`${ops}/readyz`)).status === 200, { what: 'readiness' });
  const post = async (path: string, token: string, body: object, headers = {}) =>
    fetch(`${api}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const openActivity = async (capacity: number): Promise<number> => {
    const operator = await tokenFor('boss', { operator: true });
    const reply = await post('/v1/activities', operator, { ...activityBody, capacity });
    return ((await reply.json()) as { id: number }).id;
  };
  return { app, api, ops, post, openActivity };
}

describe('the process', () => {
  it('sells, sends the message of what it sold, and stops by itself on SIGTERM', async () => {
    const { app, ops, post, openActivity } = await startProducer();
    try {
      const id = await openActivity(100);
      const buyer = await tokenFor('ann');
      const reply = await post(`/v1/activities/${id}/orders`, buyer, {}, { 'idempotency-key': 'k' });
      expect(reply.status).toBe(201);
      await waitUntil(
        async () => {
          const [row] = await queryDatabase(mysqlUrl, 'SELECT * FROM message_outbox');
          return row?.sent_at != null && row?.message_id != null;
        },
        { what: 'the outbox row to be marked as sent' },
      );
      const metrics = await (await fetch(`${ops}/metrics`)).text();
      expect(metrics).toContain('lapse_orders_created_total 1');
      expect(metrics).toMatch(/lapse_http_request_seconds_count\{[^}]*route="\/v1\/activities\/:id\/orders"/);
    } finally {
      app.kill('SIGTERM');
    }
    expect(await app.exited).toEqual({ code: 0, signal: null });
    expect(app.output()).not.toContain(jwtSecret);
  });

  it('stopped in the middle of a rush: every order written was answered, and no hold is left (case 22)', async () => {
    const { app, post, openActivity } = await startProducer();
    const answered: string[] = [];
    const id = await openActivity(10_000);
    const tokens = await Promise.all(Array.from({ length: 3_000 }, (_, n) => tokenFor(`rush-${n}`)));
    const waiting = tokens.values();
    const buyers = Array.from({ length: 48 }, async () => {
      for (const token of waiting) {
        const reply = await post(`/v1/activities/${id}/orders`, token, {}, { 'idempotency-key': 'k' });
        if (reply.status !== 201) throw new Error(`${reply.status} ${await reply.text()}`);
        answered.push(((await reply.json()) as { id: string }).id);
        if (answered.length === 500) app.kill('SIGTERM');
      }
    });
    // Each buyer ends with a refused connection, and not before.
    const ends = await Promise.allSettled(buyers);
    expect(await app.exited).toEqual({ code: 0, signal: null });
    for (const end of ends)
      expect(end).toMatchObject({ status: 'rejected', reason: { message: 'fetch failed' } });
    expect(answered.length).toBeLessThan(3_000);
    const rows = await queryDatabase(
      mysqlUrl,
      'SELECT LOWER(HEX(id)) AS id FROM orders WHERE activity_id = ?',
      [id],
    );
    expect(rows.map((row) => row.id).sort()).toEqual(answered.map((text) => text.replaceAll('-', '')).sort());
    const verdict = await checkInvariants({ mysqlUrl, redisUrl, atRest: true });
    expect(verdict.failed).toEqual([]);
  });

  it('without Redis stays ready, for all that needs MySQL alone; one that never reached Redis does not begin', async () => {
    const gate = await openTcpGate(redisUrl);
    const { app, api, ops, post, openActivity } = await startProducer({ LAPSE_REDIS_URL: gate.url });
    try {
      const id = await openActivity(10);
      const buyer = await tokenFor('bea');
      const place = (key: string) =>
        post(`/v1/activities/${id}/orders`, buyer, {}, { 'idempotency-key': key });
      const order = (await (await place('k')).json()) as { id: string };
      await gate.shut();
      await waitUntil(async () => (await place('k2')).status === 503, { what: 'Redis to be away' });
      // Longer than a probe's answer is kept.
      const untilMs = performance.now() + 2_500;
      let shown: unknown;
      while (performance.now() < untilMs) {
        const ready = await fetch(`${ops}/readyz`);
        shown = await ready.json();
        expect([ready.status, shown]).toMatchObject([200, { ready: true }]);
        const read = await fetch(`${api}/v1/orders/${order.id}`, {
          headers: { authorization: `Bearer ${buyer}` },
        });
        expect(read.status).toBe(200);
      }
      expect(shown).toMatchObject({
        checks: {
          mysql: { ok: true },
          redis: { ok: false, fault: expect.any(String) },
          rocketmq: { ok: true },
        },
      });
      expect((await post(`/v1/orders/${order.id}/cancel`, buyer, {})).status).toBe(200);
      const never = spawnApp(root, { ...env, LAPSE_REDIS_URL: gate.url });
      await never.waitForOutput('"started"');
      const neverOps = `http://127.0.0.1:${portIn(never, 'ops server listens')}`;
      expect((await fetch(`${neverOps}/readyz`)).status).toBe(503);
      await gate.open();
      await waitUntil(async () => (await fetch(`${neverOps}/readyz`)).status === 200, {
        what: 'readiness with Redis',
      });
      never.kill('SIGTERM');
      expect(await never.exited).toEqual({ code: 0, signal: null });
    } finally {
      app.kill('SIGTERM');
      await app.exited;
      await gate.close();
    }
  });

  it('paused by an operator takes no new orders and is not ready; resumed it is, without a restart', async () => {
    const { app, ops, post, openActivity } = await startProducer({ LAPSE_HEARTBEAT_EVERY: '200ms' });
    const orders = await openOrderRepository({ url: mysqlUrl, poolMax: 1, queryTimeoutMs: 5_000 }, log);
    try {
      const activity = await openActivity(10);
      const buyer = await tokenFor('cas');
      const place = async (key: string) =>
        (await post(`/v1/activities/${activity}/orders`, buyer, {}, { 'idempotency-key': key })).status;
      const find = async () => (await orders.listWorkers()).find(({ pid }) => pid === app.pid);
      const worker = await waitUntil(find, { what: 'the process to report' });
      if (!worker) throw new Error('no worker');
      expect(worker).toMatchObject({ kind: 'producer', alive: true, state: 'RUNNING' });
      const operator = await tokenFor('boss', { operator: true });
      const direct = async (verb: string) => {
        const body = { dryRun: false, reason: 'a new release' };
        expect((await post(`/v1/workers/${worker.id}/${verb}`, operator, body)).status).toBe(200);
      };
      await direct('pause');
      await waitUntil(async () => (await find())?.state === 'PAUSED', { what: 'the process to be paused' });
      expect(await place('k')).toBe(503);
      await waitUntil(async () => (await fetch(`${ops}/readyz`)).status === 503, { what: 'no readiness' });
      expect(await (await fetch(`${ops}/readyz`)).json()).toMatchObject({
        checks: { sale: { ok: false, fault: expect.stringContaining('paused by an operator') } },
      });
      await direct('resume');
      await waitUntil(async () => (await place('k')) === 201, { what: 'orders to be taken again' });
      await waitUntil(async () => (await fetch(`${ops}/readyz`)).status === 200, { what: 'readiness' });
    } finally {
      await orders.close();
      app.kill('SIGTERM');
    }
    expect(await app.exited).toEqual({ code: 0, signal: null });
  });

  it('without a secret exits 1, naming every variable that is missing or wrong', async () => {
    const { LAPSE_JWT_SECRET: _secret, ...without } = env;
    const app = spawnApp(root, { ...without, LAPSE_HTTP_PORT: '70000', LAPSE_HTTP_PROT: '1' });
    expect(await app.exited).toEqual({ code: 1, signal: null });
    for (const name of ['LAPSE_JWT_SECRET', 'LAPSE_HTTP_PORT', 'LAPSE_HTTP_PROT']) {
      expect(app.output()).toContain(name);
    }
  });
});
