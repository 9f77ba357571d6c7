import type { TimeoutOrder } from '@lapse/contracts';
import { consumeTimeouts, countDeadLetters, drainDeadLetters } from '@lapse/messaging';
import {
  captureLog,
  consume,
  log,
  noAnswer,
  openActivity,
  openBroker,
  openShop,
  outcomesOf,
  placeOrders,
  readStock,
  type Shop,
  type TestBroker,
} from '@lapse/test-shop';
import { checkInvariants, spawnApp, testRocketmq, waitUntil } from '@lapse/testing';
import { expect, type TestContext, test } from 'vitest';
import { closeOverdue } from '../src/close-overdue.ts';
import { parkDeadLetters } from '../src/park-dead-letters.ts';

const signal = new AbortController().signal;
const root = new URL('..', import.meta.url);
/** The least that the broker takes: a message that fails is a dead letter after one of these and some seconds. */
const invisibleMs = 10_000;
const ops = { dryRun: false, actor: 'ops', reason: 'the fault is mended' };

/** Topics and stores of one test: most of its time is the broker's, so they run together. */
interface World {
  readonly shop: Shop;
  readonly broker: TestBroker;
}

async function openWorld(onTestFinished: TestContext['onTestFinished']): Promise<World> {
  // One delivery; the next one is the dead-letter topic.
  const [shop, broker] = await Promise.all([openShop(), openBroker({ retryMaxTimes: 0 })]);
  onTestFinished(async () => {
    await broker.sender.close();
    await shop.close();
  });
  return { shop, broker };
}

/** A closer with a fault of its own: it fails on every message, one of each list, until the broker gives up on it. */
async function makeDeadLetter(
  { shop, broker }: World,
  ...messages: readonly (readonly TimeoutOrder[])[]
): Promise<void> {
  const before = await countDeadLetters(broker.config);
  const faulty = await consumeTimeouts(
    { ...broker.config, ...consume, invisibleMs },
    {
      phase: 2,
      batchMax: 1_000,
      handle: () => Promise.reject(new Error('a fault of this release')),
      rearm: async () => undefined,
      park: async () => undefined,
      now: shop.orders.now,
      log,
    },
  );
  for (const due of messages) {
    const dueTime = Math.min(...due.map((order) => order.dueTime));
    await broker.sender.send({ version: 1, phase: 2, dueTime, orders: [...due] }, Date.now());
  }
  await waitUntil(async () => (await countDeadLetters(broker.config)) >= before + messages.length, {
    what: 'the broker to give up on the messages',
    timeoutMs: 60_000,
    everyMs: 250,
  });
  await faulty.close();
}

/** The oracle at rest, which asks the broker too. */
async function judge({ shop, broker }: World) {
  return checkInvariants({
    mysqlUrl: shop.databaseUrl,
    redisUrl: shop.redisUrl,
    atRest: true,
    broker: { namesrv: testRocketmq().namesrv, topicPrefix: broker.config.topicPrefix },
  });
}

test.concurrent('a message that the broker gave up on is parked by the sweeper, alerted, and its orders close without it', {
  timeout: 120_000,
}, async ({ onTestFinished }) => {
  const world = await openWorld(onTestFinished);
  const { shop, broker } = world;
  const activity = await openActivity(shop, 3);
  const { closeDue, ids } = await placeOrders(shop, activity, 3, { remindInMs: -2_000, expireInMs: -1_000 });
  await shop.orders.remindPending(ids);
  await shop.query('UPDATE message_outbox SET sent_at = NOW(3)');
  await makeDeadLetter(world, closeDue);
  const sweep = closeOverdue({
    orders: shop.orders,
    stock: shop.stock,
    log,
    config: { graceMs: 0, batchMax: 500, budgetMs: 8_000 },
  });
  expect(await sweep(signal)).toMatchObject({ closed: 3 });
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 3, redis: 3, held: 0 });

  // Control: with nobody draining, a message is left behind, and the oracle says so.
  await shop.orders.expandClosedNotices(10);
  await shop.query('DELETE FROM effect');
  expect((await judge(world)).failed.map(({ id }) => id)).toEqual(['I11']);

  const captured = captureLog();
  const letters = drainDeadLetters(broker.config, {
    phases: [1, 2],
    park: shop.orders.parkDeadLetter,
    log: captured.log,
  });
  const park = parkDeadLetters({ orders: shop.orders, drain: letters.drain });
  expect(await park(signal)).toBe(1);
  expect(await park(signal)).toBe(0);
  await letters.close();

  const alerts = captured.lines.filter(({ level }) => level === 'error');
  expect(alerts).toMatchObject([{ orders: 3, orderIds: expect.arrayContaining(ids) }]);
  const [parked] = await shop.orders.listParked({ kind: 'dead_letter' }, { afterId: 0, limit: 10 });
  expect(parked).toMatchObject({
    phase: 2,
    state: 'PARKED',
    reason: expect.stringContaining('order-closer'),
  });
  expect(JSON.parse(String(parked?.body)).orders).toHaveLength(3);
  expect((await judge(world)).failed).toEqual([]);
  expect(await outcomesOf(shop.orders.redriveParked([parked?.id ?? 0], ops, noAnswer))).toMatchObject([
    { kind: 'redriven', rearmed: 0 },
  ]);
});

test.concurrent('the sweeper process drains by itself, and a redriven dead letter arms its pending orders', {
  timeout: 120_000,
}, async ({ onTestFinished }) => {
  const world = await openWorld(onTestFinished);
  const { shop, broker } = world;
  const activity = await openActivity(shop, 2);
  const { closeDue } = await placeOrders(shop, activity, 2, { remindInMs: 300_000, expireInMs: 600_000 });
  await makeDeadLetter(
    world,
    closeDue.map((order) => ({ ...order, dueTime: Date.now() })),
  );
  const app = spawnApp(root, {
    ...broker.env,
    LAPSE_MYSQL_URL: shop.databaseUrl,
    LAPSE_REDIS_URL: shop.redisUrl,
    LAPSE_DEAD_LETTERS_EVERY: '1s',
  });
  await app.waitForOutput('parked a dead letter');
  const [parked] = await shop.orders.listParked(
    { kind: 'dead_letter', state: 'PARKED' },
    { afterId: 0, limit: 10 },
  );
  expect(await outcomesOf(shop.orders.redriveParked([parked?.id ?? 0], ops, noAnswer))).toMatchObject([
    { kind: 'redriven', rearmed: 2 },
  ]);
  await waitUntil(
    () => shop.count('SELECT COUNT(*) FROM message_outbox WHERE phase = 2 AND sent_at IS NOT NULL'),
    { what: 'the sweeper to send the redriven row', timeoutMs: 20_000 },
  );
  app.kill('SIGTERM');
  expect(await app.exited).toEqual({ code: 0, signal: null });
});

test.concurrent('a dead letter that cannot be parked stays in the broker, and a broker without such topics has none', {
  timeout: 120_000,
}, async ({ onTestFinished }) => {
  const world = await openWorld(onTestFinished);
  const { shop, broker } = world;
  const away = drainDeadLetters(
    { ...broker.config, topicPrefix: 'no-such-prefix-' },
    { phases: [1, 2], park: shop.orders.parkDeadLetter, log },
  );
  expect(await away.drain(signal)).toBe(0);
  await away.close();

  const activity = await openActivity(shop, 1);
  const { closeDue } = await placeOrders(shop, activity, 1, { remindInMs: -2, expireInMs: -1 });
  await makeDeadLetter(world, closeDue);
  const letters = drainDeadLetters(broker.config, {
    phases: [2],
    park: () => Promise.reject(new Error('the store is away')),
    log,
  });
  await expect(letters.drain(signal)).rejects.toThrow('the store is away');
  expect(await shop.count('SELECT COUNT(*) FROM parked')).toBe(0);
  await letters.close();

  const later = drainDeadLetters(broker.config, { phases: [2], park: shop.orders.parkDeadLetter, log });
  await waitUntil(async () => (await later.drain(signal)) === 1, {
    what: 'the dead letter to come again',
    timeoutMs: 60_000,
  });
  await later.close();
  expect(await countDeadLetters(broker.config)).toBe(0);
});

test.concurrent('dead letters that cannot be parked hold up none of those that came with them', {
  timeout: 120_000,
}, async ({ onTestFinished }) => {
  const world = await openWorld(onTestFinished);
  const { shop, broker } = world;
  const activity = await openActivity(shop, 6);
  const { closeDue } = await placeOrders(shop, activity, 6, { remindInMs: -2, expireInMs: -1 });
  await makeDeadLetter(world, ...closeDue.map((order) => [order]));
  let calls = 0;
  const letters = drainDeadLetters(broker.config, {
    phases: [2],
    park: async (message) => {
      calls += 1;
      // As many as are parked at once.
      if (calls <= 4) throw new Error('this one cannot be written');
      await shop.orders.parkDeadLetter(message);
    },
    log,
  });
  await expect(letters.drain(signal)).rejects.toThrow('this one cannot be written');
  expect(await shop.count('SELECT COUNT(*) FROM parked')).toBe(2);
  let again = 0;
  const drainMore = async (): Promise<boolean> => {
    again += await letters.drain(signal);
    return again === 4;
  };
  await waitUntil(drainMore, {
    what: 'the four to come again',
    timeoutMs: 60_000,
  });
  await letters.close();
  expect(await shop.count('SELECT COUNT(*) FROM parked')).toBe(6);
});
