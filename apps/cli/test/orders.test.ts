import { orderView } from '@lapse/contracts';
import type { Activity } from '@lapse/order-repository';
import { openActivity, openShop, placeOrders, readStock, type Shop } from '@lapse/test-shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeShape, refusedShape } from '../src/shapes/change.ts';
import { explainShape, orderFindShape, orderShowShape } from '../src/shapes/order.ts';
import { applied, type Cli, envOf, openCli } from './cli.ts';

let shop: Shop;
let cli: Cli;
let activity: Activity;
beforeAll(async () => {
  shop = await openShop();
  cli = openCli(envOf(shop));
  activity = await openActivity(shop, 50);
});
afterAll(() => shop?.close());

const ahead = { remindInMs: 60_000, expireInMs: 120_000 };
const overdue = { remindInMs: -5_000, expireInMs: -2_000 };
async function place(times = ahead): Promise<string> {
  const { ids } = await placeOrders(shop, activity, 1, times);
  return ids[0] ?? '';
}
const actionsOf = (id: string) =>
  shop.query(
    'SELECT action, CONVERT(actor USING utf8mb4) AS actor, reason FROM operator_action WHERE target = ?',
    [id],
  );

describe('order show', () => {
  test('has the whole life of an order, who bought it, and what Redis holds', async () => {
    const id = await place();
    const { code, data } = await cli.json(orderShowShape, 'order', 'show', id);
    expect(code).toBe(0);
    expect(data.order).toMatchObject({ id, status: 'PENDING', userId: `buyer ${id}` });
    expect(data.events.map(({ kind }) => kind)).toEqual(['transition', 'message']);
    expect(data.redis).toMatchObject({ state: 'held', quantity: 1 });
  });

  test('as text: one line an event, times with their zone', async () => {
    const { out } = await cli.run('order', 'show', await place());
    expect(out).toContain('order placed, places held, waiting for payment');
    expect(out).toContain('Redis: held, 1, since');
    expect(out).toMatch(/\nTimes: (UTC|\S+, UTC[+-]\d\d:\d\d)\n$/);
  });

  test('an order that is not there: exit code 1, and it says so', async () => {
    const absent = '019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001';
    const { code, data } = await cli.json(refusedShape, 'order', 'show', absent);
    expect([code, data.problem.code]).toEqual([1, 'ORDER_NOT_FOUND']);
    expect(data.problem.detail).toContain('lapse order find');
  });

  test('an id is taken as MySQL writes it: in upper case, without dashes', async () => {
    const id = await place();
    expect((await cli.run('order', 'show', id.replaceAll('-', '').toUpperCase())).code).toBe(0);
  });

  test('what is no order id is wrong usage: exit code 2, and no store is asked', async () => {
    const { code, out, err } = await openCli({}).run('order', 'show', '42');
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(
      'ID must be the id of an order: a UUID of version 7, in either case, with or without',
    );
  });
});

test('order find: by user, by activity a page at a time; two ways at once are refused', async () => {
  const id = await place();
  const byUser = await cli.json(orderFindShape, 'order', 'find', '--user', `buyer ${id}`);
  expect(byUser.data.orders.map((order) => order.id)).toEqual([id]);
  const first = await cli.json(
    orderFindShape,
    'order',
    'find',
    '--activity',
    `${activity.id}`,
    '--limit',
    '1',
  );
  expect(first.data).toMatchObject({ orders: [{ id }], next: id });
  const second = await cli.json(
    orderFindShape,
    ...['order', 'find', '--activity', `${activity.id}`, '--limit', '1', '--before', id],
  );
  expect(second.data.orders[0]?.id).not.toBe(id);
  expect((await cli.run('order', 'find', '--user', 'a', '--payment', 'b')).code).toBe(2);
});

describe('explain order', () => {
  test('says the same facts as sentences', async () => {
    const id = await place();
    const { code, data } = await cli.json(explainShape, 'explain', 'order', id);
    expect(code).toBe(0);
    expect(data.answers.map(({ about }) => about)).toEqual(['state', 'places', 'places', 'buyer', 'money']);
    expect(data.todo).toEqual([]);
    expect((await cli.run('explain', 'order', id)).out).toContain('to do   nothing');
  });

  test('a mistyped word is named, and so is an order too many', async () => {
    const offline = openCli({});
    expect((await offline.run('explain', 'ordr', '1')).err).toContain('explain knows no "ordr"');
    const [id, more] = ['019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001', 'second'];
    const twice = await offline.run('explain', 'order', id, more);
    expect([twice.code, twice.err]).toEqual([2, expect.stringContaining('"second" is one too many')]);
  });

  test('has a payment under way, and does not say that nothing is to come', async () => {
    const id = await place();
    const wanted = { orderId: id, userId: `buyer ${id}`, provider: 'simulator' };
    expect((await shop.orders.openAttempt(wanted)).kind).toBe('open');
    const { data } = await cli.json(explainShape, 'explain', id);
    expect(data.attempts).toMatchObject([{ provider: 'simulator', state: 'CREATING', endedAt: null }]);
    const { out } = await cli.run('explain', id);
    expect(out).toContain('and the provider has not decided. The order waits for it until');
    expect(out).toContain('to do   nothing now: Lapse asks the provider until it decides');
  });

  test('works while Redis is away, and claims nothing of it', async () => {
    const id = await place();
    const withoutRedis = openCli({
      ...envOf(shop),
      LAPSE_REDIS_URL: 'redis://127.0.0.1:1',
      LAPSE_REDIS_COMMAND_TIMEOUT: '100ms',
    });
    const { code, out } = await withoutRedis.run('explain', 'order', id);
    expect(code).toBe(0);
    expect(out).toContain('Redis did not answer');
  });
});

describe('a change by hand', () => {
  test('is a dry run without --apply, and needs a reason with it', async () => {
    const id = await place();
    const dry = await cli.json(changeShape, 'order', 'cancel', id);
    expect([dry.code, dry.data.outcome]).toEqual([0, 'would_do']);
    const said = await cli.json(changeShape, 'order', 'cancel', id, '--dry-run');
    expect([said.code, said.data.outcome]).toEqual([0, 'would_do']);
    expect((await cli.run('order', 'cancel', id, '--dry-run', ...applied)).code).toBe(2);
    const tooLate = await cli.json(refusedShape, 'order', 'extend', id, '--by-ms', '30d');
    expect([tooLate.code, tooLate.data.problem.code]).toEqual([1, 'DEADLINE_TOO_LATE']);
    const noReason = await cli.run('order', 'cancel', id, '--apply');
    expect([noReason.code, noReason.err]).toEqual([
      2,
      expect.stringContaining('--reason TEXT must be given'),
    ]);
    expect((await shop.orders.readOrder(id))?.status).toBe('PENDING');
    expect(await actionsOf(id)).toEqual([]);
  });

  test('cancel: places come back in both stores, and the trail says who and why', async () => {
    const id = await place();
    const before = await readStock(shop, activity.id);
    const { code, data } = await cli.json(changeShape, 'order', 'cancel', id, ...applied);
    expect([code, data.outcome]).toEqual([0, 'done']);
    expect(orderView.parse(data.result).status).toBe('CANCELLED');
    expect(await readStock(shop, activity.id)).toEqual({
      mysql: before.mysql + 1,
      redis: before.redis + 1,
      held: before.held - 1,
    });
    expect(await actionsOf(id)).toEqual([{ action: 'order.cancel', actor: 'boss', reason: 'of the test' }]);
    const { out } = await cli.run('explain', 'order', id);
    expect(out).toContain('boss cancelled it by hand');
  });

  test('with the same key it is done once: the repeat says that it was', async () => {
    const id = await place();
    const command = ['order', 'cancel', id, ...applied, '--key', `key-${id}`];
    expect((await cli.json(changeShape, ...command)).data.outcome).toBe('done');
    expect((await cli.json(changeShape, ...command)).data.outcome).toBe('replayed');
    expect(await actionsOf(id)).toHaveLength(1);
    const other = await place();
    const reused = await cli.json(refusedShape, 'order', 'cancel', other, ...applied, '--key', `key-${id}`);
    expect([reused.code, reused.data.problem.code]).toEqual([1, 'IDEMPOTENCY_KEY_REUSED']);
  });

  test('extend: the deadline moves, its message waits in the outbox for the sweeper; never to an earlier time', async () => {
    const id = await place();
    const before = await shop.orders.readOrder(id);
    const { data } = await cli.json(changeShape, 'order', 'extend', id, '--by-ms', '5m', ...applied);
    expect(data.outcome).toBe('done');
    const after = await shop.orders.readOrder(id);
    expect(after?.expiresAt.getTime()).toBe((before?.expiresAt.getTime() ?? 0) + 300_000);
    const earlier = await cli.json(
      refusedShape,
      ...['order', 'extend', id, '--until', '2026-01-01T00:00:00Z', ...applied],
    );
    expect([earlier.code, earlier.data.problem.code]).toEqual([1, 'DEADLINE_NOT_LATER']);
    expect((await cli.run('order', 'extend', id, ...applied)).code).toBe(2);
  });

  test('close: only past the deadline; then both stores have the place again', async () => {
    const early = await place();
    const refused = await cli.json(refusedShape, 'order', 'close', early, ...applied);
    expect([refused.code, refused.data.problem.code]).toEqual([1, 'ORDER_NOT_DUE']);
    const id = await place(overdue);
    const before = await readStock(shop, activity.id);
    expect((await cli.json(changeShape, 'order', 'close', id)).data.outcome).toBe('would_do');
    const { code, data } = await cli.json(changeShape, 'order', 'close', id, ...applied);
    expect([code, data.result.status]).toEqual([0, 'TIMEOUT_CLOSED']);
    expect(await readStock(shop, activity.id)).toMatchObject({
      redis: before.redis + 1,
      mysql: before.mysql + 1,
    });
    expect((await cli.run('explain', 'order', id)).out).toContain('boss closed it: of the test');
  });
});

test('an order in the archive is shown and explained from there, and says so', async () => {
  const id = await place();
  const cancelled = await shop.orders.cancelOrder(id, `buyer ${id}`);
  if (cancelled.kind !== 'cancelled') throw new Error(cancelled.kind);
  await shop.orders.markEffectsApplied([cancelled.effect.id]);
  const key = Buffer.from(id.replaceAll('-', ''), 'hex');
  await shop.query(
    `UPDATE orders SET idempotency_key = NULL, expires_at = NOW(3) - INTERVAL 3 DAY,
       closed_at = NOW(3) - INTERVAL 3 DAY WHERE id = ?`,
    [key],
  );
  const policy = { status: 'CANCELLED', olderThanMs: 172_800_000, limit: 200, after: null } as const;
  expect((await shop.orders.archiveOrders(policy)).archived).toBe(1);

  const { code, data } = await cli.json(orderShowShape, 'order', 'show', id);
  expect(code).toBe(0);
  expect(data).toMatchObject({ order: { id, status: 'CANCELLED' }, archivedAt: expect.any(String) });
  expect((await cli.run('order', 'show', id)).out).toContain('From the archive, since');
  const explained = await cli.json(explainShape, 'explain', 'order', id);
  expect(explained.data.answers.map(({ says }) => says)).toContainEqual(
    expect.stringContaining('Its rows went to the archive at'),
  );
  const again = await cli.json(changeShape, 'order', 'cancel', id, ...applied);
  expect([again.code, again.data.result.status]).toEqual([0, 'CANCELLED']);
  expect((await cli.run('order', 'cancel', id)).out).toContain('is CANCELLED already');
  for (const command of [
    ['close', id],
    ['extend', id, '--by-ms', '1m'],
  ]) {
    const asked = await cli.json(refusedShape, 'order', ...command);
    expect(asked.data.problem).toMatchObject({
      code: 'ORDER_NOT_PENDING',
      detail: expect.stringContaining('The order is CANCELLED'),
    });
    const done = await cli.json(refusedShape, 'order', ...command, ...applied);
    expect(done.data.problem).toMatchObject({ code: 'ORDER_NOT_PENDING' });
  }
  expect(await actionsOf(id)).toEqual([]);
});
