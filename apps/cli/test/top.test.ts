import { activityPauseView, workerList, workerPauseView } from '@lapse/contracts';
import { openActivity, openShop, placeOrders, type Shop } from '@lapse/test-shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommandLine } from '../src/run-command-line.ts';
import { refusedShape } from '../src/shapes/change.ts';
import { topShape } from '../src/shapes/top.ts';
import { applied, type Cli, envOf, openCli } from './cli.ts';

let shop: Shop;
let cli: Cli;
beforeAll(async () => {
  shop = await openShop();
  cli = openCli(envOf(shop));
});
afterAll(() => shop?.close());

const workerId = '4f8a1d1e-4f0c-4d38-9d0e-8f5b0f3f0a11';
const report = () =>
  shop.orders.reportWorker({
    ...{ id: workerId, kind: 'closer', host: 'here', pid: 1, version: '1', uptimeMs: 1_000 },
    ...{ heartbeatMs: 60_000, state: 'RUNNING', wanted: 'RUN', figures: { inHand: 3, latenessP99Ms: 12 } },
  });

describe('top', () => {
  test('counts what is pending, overdue, owed, parked and given up, and says where the stores differ', async () => {
    const activity = await openActivity(shop, 10);
    await placeOrders(shop, activity, 2, { remindInMs: 10_000, expireInMs: 30_000 });
    const { ids } = await placeOrders(shop, activity, 1, { remindInMs: -9_000, expireInMs: -5_000 });
    const { ids: cancelled } = await placeOrders(shop, activity, 1, {
      remindInMs: 10_000,
      expireInMs: 400_000,
    });
    await shop.orders.cancelOrder(cancelled[0] ?? '', `buyer ${cancelled[0]}`);
    await shop.orders.parkMessage({ messageId: 'm', phase: 2, reason: 'x', body: Buffer.from('x') });
    await shop.query(
      `INSERT INTO notification (order_id, stage, state, attempts, next_attempt_at, created_at)
       VALUES (UNHEX(?), 'REMINDER', 'PARKED', 10, NOW(3), NOW(3))`,
      [(ids[0] ?? '').replaceAll('-', '')],
    );
    await report();
    const { code, data } = await cli.json(topShape, 'top');
    expect(code).toBe(0);
    expect(data).toMatchObject({
      pending: 3,
      overdue: 1,
      due: [{ withinMs: 60_000, orders: 2 }, { orders: 2 }, { orders: 2 }],
      orders: { PENDING: 3, CANCELLED: 1 },
      outbox: { rows: 3 },
      effects: { rows: 1 },
      parked: { orders: 0, messages: 1, deadLetters: 0 },
      notices: { failing: 0, givenUp: 1 },
      shopEvents: { waiting: 0, givenUp: 0 },
      workers: [{ kind: 'closer', figures: { inHand: 3 } }],
      // Redis has still to be told of the cancel.
      activities: [{ id: activity.id, freeInMysql: 7, freeInRedis: 6, users: 4, paused: false }],
    });
  });

  test('shows MySQL while Redis is away', async () => {
    const away = { LAPSE_REDIS_URL: 'redis://127.0.0.1:1', LAPSE_REDIS_COMMAND_TIMEOUT: '100ms' };
    const { code, out } = await openCli({ ...envOf(shop), ...away }).run('top', '--once');
    expect([code, out]).toEqual([0, expect.stringContaining('not in Redis')]);
  });

  test('on a terminal it draws until it is stopped, and leaves the screen as it was', async () => {
    const written: string[] = [];
    const stop = new AbortController();
    const write = (text: string) => {
      written.push(text);
      if (text.includes('Ctrl-C ends it')) stop.abort();
    };
    const out = { write, isTTY: true };
    const code = await runCommandLine(['top'], {
      env: envOf(shop),
      out,
      err: { write },
      signal: stop.signal,
    });
    expect(code).toBe(0);
    expect(written.join('')).toContain('orders    pending 3');
    expect(written.at(-1)).toBe('\u001b[?25h\u001b[?1049l');
  });
});

test('workers: listed, and paused by name and reason; one that nobody knows is refused', async () => {
  await report();
  const { data } = await cli.json(workerList, 'workers', 'list');
  expect(data.workers).toMatchObject([{ id: workerId, wanted: 'RUN', alive: true }]);
  const dry = await cli.json(workerPauseView, 'workers', 'pause', workerId);
  expect(dry.data).toMatchObject({ dryRun: true, changes: true });
  const done = await cli.json(workerPauseView, 'workers', 'pause', workerId, ...applied);
  expect(done.data).toMatchObject({ dryRun: false, worker: { wanted: 'PAUSE' } });
  expect(await report()).toEqual({ wanted: 'PAUSE' });
  const other = workerId.replace('4f', '5f');
  const refused = await cli.json(refusedShape, 'workers', 'resume', other, ...applied);
  expect([refused.code, refused.data.problem.code]).toEqual([1, 'WORKER_NOT_FOUND']);
});

test('activity pause and resume: a dry run first, then its sale is paused, and goes on', async () => {
  const { id } = await openActivity(shop, 3);
  const dry = await cli.json(activityPauseView, 'activity', 'pause', `${id}`);
  expect(dry.data).toMatchObject({ dryRun: true, changes: true });
  expect((await shop.orders.readActivity(id))?.salePausedAt).toBeNull();
  await cli.run('activity', 'pause', `${id}`, ...applied);
  expect((await shop.orders.readActivity(id))?.salePausedAt).toBeInstanceOf(Date);
  const again = await cli.run('activity', 'pause', `${id}`, ...applied);
  expect([again.code, again.out]).toEqual([0, `done: the sale of activity ${id} is paused already\n`]);
  const resumed = await cli.json(activityPauseView, 'activity', 'resume', `${id}`, ...applied);
  expect(resumed.data.activity.salePausedAt).toBeNull();
});
