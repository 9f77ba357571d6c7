import { paymentGraceMsMax } from '@lapse/contracts';
import type { PaymentProvider } from '@lapse/payments';
import { sleep } from '@lapse/runtime';
import { directWorker, findWorker, openActivity, openShop, readStock, type Shop } from '@lapse/test-shop';
import { type SpawnedApp, spawnApp, waitUntil } from '@lapse/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type BeingPaid, comeToRest, moneyOf, payIn, reachDeadline, statusOf } from './settler.ts';
import { insist, type RunningSimulator, startSimulator } from './simulator.ts';

const root = new URL('..', import.meta.url);

let shop: Shop;
let simulator: RunningSimulator;

beforeAll(async () => {
  shop = await openShop();
  simulator = await startSimulator({ seed: 7, apiError: 0.2, processing: 0.2, processingMs: 300 });
});
afterAll(async () => {
  await simulator?.close();
  await shop?.close();
});

const payAtProvider = ({ attempt }: Pick<BeingPaid, 'attempt'>) =>
  insist(() => simulator.pay(attempt.providerRef));
const started: SpawnedApp[] = [];
function startSettler(env: Record<string, string>): SpawnedApp {
  const app = spawnApp(root, env);
  started.push(app);
  return app;
}
afterEach(async () => {
  for (const app of started.splice(0)) {
    app.kill('SIGKILL');
    await app.exited;
  }
});
const settlerEnv = (more: Record<string, string> = {}) => ({
  LAPSE_MYSQL_URL: shop.databaseUrl,
  LAPSE_REDIS_URL: shop.redisUrl,
  ...simulator.env,
  ...more,
});

test('with all webhooks lost, a provider that fails now and then, and the settler killed at every step, money and places are right (cases 1, 6)', async () => {
  // Never over while settlers die and start, however slowly: then captures would be late.
  const activity = await openActivity(shop, 40, { paymentGraceMs: paymentGraceMsMax });
  const beings: Omit<BeingPaid, 'activity'>[] = [];
  for (let count = 0; count < 20; count += 1) {
    beings.push(await insist(() => payIn(shop, providerInsisting(), activity)));
  }
  for (const being of beings.slice(0, 10)) await payAtProvider(being);
  for (const { orderId } of beings) await reachDeadline(shop, orderId);
  const points = [
    'provider.cancelAttempt:before@2',
    'provider.cancelAttempt:after@2',
    'orders.endAttempt:after@2',
    'orders.recordPayment:before@2',
    'orders.recordPayment:after@2',
    'stock.confirm:after',
    'orders.closeExpired:after',
    'stock.release:after',
  ];
  for (const LAPSE_CRASH_AT of points) {
    const app = startSettler(settlerEnv({ LAPSE_CRASH_AT }));
    // Where nothing is left for a point, it is not passed.
    await waitUntil(async () => (await endedIn(app)) || settled(), {
      what: LAPSE_CRASH_AT,
      timeoutMs: 30_000,
    });
    app.kill('SIGKILL');
    await app.exited;
    // Its leases end at once, as if half a minute had passed.
    await shop.query('UPDATE payment_attempt SET claimed_until = NULL');
  }
  const app = startSettler(settlerEnv());
  await app.waitForOutput('"started"');
  await waitUntil(settled, { what: 'all attempts to be settled', timeoutMs: 40_000 });
  // An order whose settler died between the provider's word and its close is the closer's and the sweep's.
  await waitUntil(
    async () => {
      await shop.orders.closeOverdue({ graceMs: 0, limit: 100 });
      return (await shop.count("SELECT COUNT(*) FROM orders WHERE status = 'PENDING'")) === 0;
    },
    { what: 'all orders to end', timeoutMs: 20_000 },
  );
  app.kill('SIGTERM');
  expect(await app.exited).toEqual({ code: 0, signal: null });
  await comeToRest(shop);
  for (const [index, { orderId }] of beings.entries()) {
    expect([index, await statusOf(shop, orderId), await moneyOf(shop, orderId)]).toEqual(
      index < 10 ? [index, 'PAID', ['CAPTURED']] : [index, 'TIMEOUT_CLOSED', []],
    );
  }
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 30, redis: 30, held: 0 });
  const ledger = await simulator.readLedger();
  expect(ledger.captures).toHaveLength(10);
  expect(ledger.refunds).toEqual([]);
}, 180_000);

test('late money: killed before it wrote the refund down, the settler pays back once by the provider’s own ledger', async () => {
  const activity = await openActivity(shop, 5, { paymentGraceMs: 0 });
  const being = await insist(() => payIn(shop, providerInsisting(), activity));
  await payAtProvider(being);
  await reachDeadline(shop, being.orderId);
  expect((await shop.orders.closeExpired([being.orderId], { cause: 'message' })).closed).toHaveLength(1);
  for (const LAPSE_CRASH_AT of [
    'provider.refund:after',
    'provider.refund:after',
    'orders.finishRefund:after',
  ]) {
    const app = startSettler(settlerEnv({ LAPSE_CRASH_AT }));
    expect(await app.exited).toEqual({ code: null, signal: 'SIGKILL' });
    await shop.query('UPDATE payment SET claimed_until = NULL');
  }
  expect(await statusOf(shop, being.orderId)).toBe('TIMEOUT_CLOSED');
  expect(await moneyOf(shop, being.orderId)).toEqual(['REFUNDED']);
  const { captures, refunds } = await simulator.readLedger();
  const taken = captures.filter(({ orderId }) => orderId === being.orderId).map(({ paymentId }) => paymentId);
  expect(refunds.filter(({ paymentId }) => taken.includes(paymentId))).toHaveLength(1);
}, 120_000);

test('without a provider it starts, applies kept payments, and says that nobody pays refunds', async () => {
  const app = startSettler({
    LAPSE_MYSQL_URL: shop.databaseUrl,
    LAPSE_REDIS_URL: shop.redisUrl,
    LAPSE_PAYMENT_WEBHOOK_SECRET: simulator.env.LAPSE_PAYMENT_WEBHOOK_SECRET ?? '',
  });
  await app.waitForOutput('"started"');
  expect(app.output()).toContain('no payment provider is set up');
  app.kill('SIGTERM');
  expect(await app.exited).toEqual({ code: 0, signal: null });
});

test('paused it asks the provider for nothing, and goes on telling what waits; resumed it settles what fell due meanwhile', async () => {
  const app = startSettler(
    settlerEnv({ LAPSE_HEARTBEAT_EVERY: '500ms', LAPSE_SETTLER_REPORT_EVERY: '200ms' }),
  );
  await app.waitForOutput('"started"');
  const worker = await findWorker(shop, 'settler', app.pid);
  await directWorker(shop, worker, 'PAUSE');
  const pausedReadAt = await readGauge(app, 'lapse_settler_read_timestamp_seconds');
  const activity = await openActivity(shop, 1, { paymentGraceMs: paymentGraceMsMax });
  const being = await insist(() => payIn(shop, providerInsisting(), activity));
  await payAtProvider(being);
  await reachDeadline(shop, being.orderId);
  // Many turns of its tasks.
  const heard = async () => (await shop.orders.listWorkers()).find(({ id }) => id === worker.id)?.heartbeatAt;
  const before = Number(await heard());
  await waitUntil(async () => Number(await heard()) - before > 1_500, { what: 'some heartbeats' });
  expect(await statusOf(shop, being.orderId)).toBe('PENDING');
  expect(await readGauge(app, 'lapse_settler_read_timestamp_seconds')).toBeGreaterThan(pausedReadAt);
  const { figures } = await findWorker(shop, 'settler', app.pid);
  expect(figures.waiting).toEqual(expect.any(Number));
  await directWorker(shop, worker, 'RUN');
  await waitUntil(async () => (await statusOf(shop, being.orderId)) === 'PAID', {
    what: 'the payment to be settled',
    timeoutMs: 30_000,
  });
  app.kill('SIGTERM');
  expect(await app.exited).toEqual({ code: 0, signal: null });
}, 60_000);

async function readGauge(app: SpawnedApp, name: string): Promise<number> {
  const port = /"port":(\d+),"msg":"ops server listens"/.exec(app.output())?.[1];
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

function endedIn(app: SpawnedApp): Promise<boolean> {
  return Promise.race([app.exited.then(() => true), sleep(50).then(() => false)]);
}

async function settled(): Promise<boolean> {
  return (await shop.count("SELECT COUNT(*) FROM payment_attempt WHERE state IN ('CREATING', 'OPEN')")) === 0;
}

function providerInsisting(): PaymentProvider {
  const { provider } = simulator;
  return { ...provider, createAttempt: (request) => insist(() => provider.createAttempt(request)) };
}
