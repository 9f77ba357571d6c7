import { createTopics } from '@lapse/messaging';
import { migrate } from '@lapse/order-repository';
import {
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
import { activityBody, jwtSecret, log, tokenFor, webhookSecret } from './test-api.ts';

const root = new URL('..', import.meta.url);
let env: Record<string, string>;
let stopped: (() => Promise<void>)[] = [];
beforeAll(async () => {
  const database = await createTestDatabase();
  const redis = await createTestRedis();
  const { endpoints, namesrv } = testRocketmq();
  const topicPrefix = testTopicPrefix();
  await migrate({ url: database.url }, log);
  await createTopics({ endpoints, namesrv, topicPrefix, tls: false, requestTimeoutMs: 3_000 }, log);
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

describe('the process', () => {
  it('sells, sends the message of what it sold, and stops by itself on SIGTERM', async () => {
    const app = spawnApp(root, env);
    try {
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
      const activity = await post('/v1/activities', await tokenFor('boss', { operator: true }), activityBody);
      const { id } = (await activity.json()) as { id: number };
      const reply = await post(
        `/v1/activities/${id}/orders`,
        await tokenFor('ann'),
        {},
        { 'idempotency-key': 'k' },
      );
      expect(reply.status).toBe(201);

      await waitUntil(
        async () => {
          const [row] = await queryDatabase(env.LAPSE_MYSQL_URL ?? '', 'SELECT * FROM message_outbox');
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

  it('without a secret exits 1, naming every variable that is missing or wrong', async () => {
    const { LAPSE_JWT_SECRET: _secret, ...without } = env;
    const app = spawnApp(root, { ...without, LAPSE_HTTP_PORT: '70000', LAPSE_HTTP_PROT: '1' });
    expect(await app.exited).toEqual({ code: 1, signal: null });
    for (const name of ['LAPSE_JWT_SECRET', 'LAPSE_HTTP_PORT', 'LAPSE_HTTP_PROT']) {
      expect(app.output()).toContain(name);
    }
  });
});
