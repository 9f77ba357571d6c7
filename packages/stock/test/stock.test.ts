import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HoldDiffersError, type ReserveResult } from '../src/index.ts';
import { emptySnapshot, idOf, listHeld, loadOver, openTestStock, type TestStock } from './open-test-stock.ts';

let own: TestStock;
let lastActivity = 0;

beforeAll(async () => {
  own = await openTestStock();
});
afterAll(() => own.close());

/** A loaded activity nobody else uses, with short names for what the tests do with it. */
async function openActivity(capacity: number) {
  lastActivity += 1;
  const activityId = lastActivity;
  await loadOver(own.stock, emptySnapshot(activityId, capacity));
  return {
    activityId,
    reserve: (orderId: string, userId = `user of ${orderId}`, quantity = 1): Promise<ReserveResult> =>
      own.stock.reserve({
        activityId,
        generation: 1,
        stockRunId: own.runIdOf(activityId),
        orderId,
        userId,
        quantity,
      }),
    release: (...orderIds: string[]) => own.stock.release(activityId, orderIds),
    confirm: (...orderIds: string[]) => own.stock.confirm(activityId, orderIds),
    counts: () => own.stock.readCounts(activityId),
    keys: `activity:{${activityId}}`,
  };
}

const counted = (stock: number, held: number, sold: number, users: number) => ({
  stock,
  held,
  sold,
  users,
  generation: 1,
  steady: true,
});

describe('reserve', () => {
  it('takes units and the user together, and writes the names other systems read', async () => {
    const { activityId, reserve, counts } = await openActivity(10);
    expect(await reserve('o1', 'ann', 3)).toEqual({ kind: 'reserved' });
    expect(await counts()).toEqual(counted(7, 3, 0, 1));
    expect(await own.redis.get(`activity:{${activityId}}:stock`)).toBe('7');
    expect(await own.redis.smembers(`activity:{${activityId}}:users`)).toEqual(['ann']);
    expect(await own.redis.hget(`activity:{${activityId}}:holds`, 'o1')).toMatch(/^h:3:\d{13}:ann$/);
    expect(await own.redis.get(`activity:{${activityId}}:gen`)).toBe('1');
  });

  it('sent fifty times at once for one order, takes its units once', async () => {
    const { reserve, counts } = await openActivity(10);
    const answers = await Promise.all(Array.from({ length: 50 }, () => reserve('o1', 'ann', 2)));
    expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(['reserved']));
    expect(await counts()).toEqual(counted(8, 2, 0, 1));
  });

  it('never sells more than there is, whoever asks at once', async () => {
    const { reserve, counts } = await openActivity(37);
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => reserve(`o${i}`)));
    expect(answers.filter(({ kind }) => kind === 'reserved')).toHaveLength(37);
    expect(answers.filter(({ kind }) => kind.startsWith('sold_out'))).toHaveLength(163);
    expect(await counts()).toEqual(counted(0, 37, 0, 37));
  });

  it('refuses more units than are free and leaves no trace', async () => {
    const { reserve, counts } = await openActivity(2);
    expect(await reserve('o1', 'ann', 3)).toEqual({ kind: 'sold_out_newcomer' });
    expect(await counts()).toEqual(counted(2, 0, 0, 0));
    expect(await reserve('o2', 'ann', 2)).toEqual({ kind: 'reserved' });
  });

  it('lets one user hold one order of an activity, and any number of activities', async () => {
    const one = await openActivity(5);
    const two = await openActivity(5);
    expect(await one.reserve('o1', 'ann')).toEqual({ kind: 'reserved' });
    expect(await one.reserve('o2', 'ann')).toEqual({ kind: 'user_holds' });
    expect(await two.reserve('o3', 'ann')).toEqual({ kind: 'reserved' });
    expect(await one.counts()).toEqual(counted(4, 1, 0, 1));
  });

  it('refuses to replay an order for another user or quantity', async () => {
    const { reserve, counts } = await openActivity(5);
    await reserve('o1', 'ann', 1);
    await expect(reserve('o1', 'bob', 1)).rejects.toThrow(HoldDiffersError);
    await expect(reserve('o1', 'ann', 2)).rejects.toThrow(HoldDiffersError);
    expect(await counts()).toEqual(counted(4, 1, 0, 1));
  });

  it('refuses quantities and activities that are not positive whole numbers, before Redis is asked', async () => {
    const { reserve } = await openActivity(5);
    for (const quantity of [0, -1, 1.5, Number.NaN]) {
      await expect(reserve('o1', 'ann', quantity)).rejects.toThrow(RangeError);
    }
    for (const activityId of [0, -1, 1.5, Number.NaN]) {
      const asked = own.stock.reserve({
        activityId,
        generation: 1,
        stockRunId: null,
        orderId: 'o',
        userId: 'u',
        quantity: 1,
      });
      await expect(asked).rejects.toThrow(RangeError);
    }
  });
});

describe('release', () => {
  it('gives units and user back once, however often and however shuffled it is sent', async () => {
    const { reserve, release, counts } = await openActivity(100);
    const orders = Array.from({ length: 40 }, (_, i) => `o${i}`);
    await Promise.all(orders.map((order) => reserve(order, undefined, 2)));
    const answers = await Promise.all(
      Array.from({ length: 25 }, () => release(...orders.toSorted(() => Math.random() - 0.5))),
    );
    const given = answers.flatMap((answer) => (answer.kind === 'done' ? answer.units : []));
    expect(given.reduce((sum, units) => sum + units, 0)).toBe(80);
    expect(await counts()).toEqual(counted(100, 0, 0, 0));
  });

  it('answers in input order, 0 for what held nothing, and credits an order named twice once', async () => {
    const { reserve, release, counts } = await openActivity(10);
    await reserve('o1', 'ann', 2);
    await reserve('o2', 'bob', 3);
    expect(await release('unknown', 'o2', 'o1', 'o2')).toEqual({ kind: 'done', units: [0, 3, 2, 0] });
    expect(await release('o1', 'o2')).toEqual({ kind: 'done', units: [0, 0] });
    expect(await counts()).toEqual(counted(10, 0, 0, 0));
  });

  it('refuses a reserve of the same order that arrives later, known or not', async () => {
    const { reserve, release, counts } = await openActivity(10);
    await release('late');
    expect(await reserve('late', 'ann')).toEqual({ kind: 'released' });
    await reserve('o1', 'bob');
    await release('o1');
    expect(await reserve('o1', 'bob')).toEqual({ kind: 'released' });
    expect(await counts()).toEqual(counted(10, 0, 0, 0));
  });

  it('drops the user only with the order that holds him: a replay does not free his next order', async () => {
    const { reserve, release, counts } = await openActivity(10);
    await reserve('o1', 'ann');
    await release('o1');
    await reserve('o2', 'ann');
    await release('o1', 'o1', 'unknown');
    expect(await reserve('o3', 'ann')).toEqual({ kind: 'user_holds' });
    expect(await counts()).toEqual(counted(9, 1, 0, 1));
  });

  it('leaves a sold order alone', async () => {
    const { reserve, confirm, release, counts } = await openActivity(10);
    await reserve('o1', 'ann', 4);
    await confirm('o1');
    expect(await release('o1')).toEqual({ kind: 'done', units: [0] });
    expect(await counts()).toEqual(counted(6, 0, 4, 1));
    expect(await reserve('o1', 'ann', 4)).toEqual({ kind: 'reserved' });
    expect(await reserve('o2', 'ann')).toEqual({ kind: 'user_holds' });
  });

  it('takes any number of orders, more than one script call may carry', async () => {
    const { reserve, release, confirm, counts } = await openActivity(5_000);
    const orders = Array.from({ length: 2_501 }, (_, i) => `o${i}`);
    await Promise.all(orders.map((order) => reserve(order)));
    expect(await confirm(...orders.slice(0, 1_001))).toMatchObject({ kind: 'done' });
    const answer = await release(...orders);
    expect(answer.kind === 'done' && answer.units).toEqual(orders.map((_, i) => (i < 1_001 ? 0 : 1)));
    expect(await counts()).toEqual(counted(3_999, 0, 1_001, 1_001));
    expect(await release()).toEqual({ kind: 'done', units: [] });
  });

  it('changes nothing when one of the holds is not readable', async () => {
    const { reserve, release, confirm, keys } = await openActivity(10);
    await reserve('o1');
    await own.redis.hset(`${keys}:holds`, 'broken', 'h:many:soon');
    await expect(release('o1', 'broken')).rejects.toThrow(/LAPSE_STOCK_CORRUPT hold of order broken/);
    await expect(confirm('o1', 'broken')).rejects.toThrow(/LAPSE_STOCK_CORRUPT hold of order broken/);
    expect(await own.redis.get(`${keys}:stock`)).toBe('9');
    expect(await release('o1')).toEqual({ kind: 'done', units: [1] });
  });
});

describe('release into damaged keys', () => {
  it.each([
    ['a counter that is no number', 'stock', 'many'],
    ['a counter that is no whole number', 'stock', '1.5'],
    ['a counter that is too large', 'stock', '99999999999999999999'],
    ['users that are no set', 'users', 'ann'],
  ])('%s: changes nothing, and gives back once that is mended', async (_what, key, damage) => {
    const { reserve, release, counts, keys } = await openActivity(10);
    await reserve('o1', 'ann', 2);
    const kept = {
      stock: await own.redis.get(`${keys}:stock`),
      users: await own.redis.smembers(`${keys}:users`),
    };
    await own.redis.del(`${keys}:${key}`);
    await own.redis.set(`${keys}:${key}`, damage);
    const answer = await release('o1').catch((error: unknown) => error);
    expect(answer).toSatisfy((it) => it instanceof Error || (it as { kind: string }).kind === 'not_ready');
    expect(await own.redis.hget(`${keys}:holds`, 'o1')).toMatch(/^h:2:/);
    expect(await own.redis.get(`${keys}:stock`)).toBe(key === 'stock' ? damage : kept.stock);
    await own.redis.del(`${keys}:${key}`);
    if (key === 'stock') await own.redis.set(`${keys}:stock`, kept.stock ?? '');
    else await own.redis.sadd(`${keys}:users`, ...kept.users);
    expect(await release('o1')).toEqual({ kind: 'done', units: [2] });
    expect(await counts()).toEqual(counted(10, 0, 0, 0));
  });
});

describe('confirm', () => {
  it('moves held units to sold once, and nothing for orders released or unknown', async () => {
    const { reserve, release, confirm, counts } = await openActivity(10);
    await reserve('o1', 'ann', 2);
    await reserve('o2', 'bob', 3);
    await release('o2');
    expect(await confirm('o1', 'o2', 'unknown', 'o1')).toEqual({ kind: 'done', units: [2, 0, 0, 0] });
    expect(await confirm('o1')).toEqual({ kind: 'done', units: [0] });
    expect(await counts()).toEqual(counted(8, 0, 2, 1));
  });

  it('against release at once: one of the two wins each order, and units add up', async () => {
    const { reserve, release, confirm, counts } = await openActivity(500);
    const orders = Array.from({ length: 500 }, (_, i) => `o${i}`);
    await Promise.all(orders.map((order) => reserve(order)));
    const outcomes = await Promise.all(
      orders.map(async (order, i) => {
        const pair = i % 2 === 0 ? [release(order), confirm(order)] : [confirm(order), release(order)];
        const answers = await Promise.all(pair);
        return answers.map((answer) => (answer.kind === 'done' ? (answer.units[0] ?? 0) : 0));
      }),
    );
    for (const [first = 0, second = 0] of outcomes) expect(first + second).toBe(1);
    const after = await counts();
    expect((after?.stock ?? 0) + (after?.sold ?? 0)).toBe(500);
    expect(after?.held).toBe(0);
  });
});

describe('user ids', () => {
  const hostile = [
    '"quoted"',
    "it's",
    'a:b:c',
    'h:9:1:x',
    'line\nbreak\r\n*3\r\n$3\r\nDEL',
    '{42}',
    '🧾👩‍👩‍👧',
    '\\"; return redis.call("FLUSHALL") --',
    ' ',
    'a',
    'a ',
    'A',
    'é',
    'e\u0301',
    '%d+(.*)$',
    '\u{1F3AB}'.repeat(64),
    'u'.repeat(128),
  ];

  it('come through unchanged and apart, whatever is in them', async () => {
    const { reserve, release, confirm, counts, keys } = await openActivity(100);
    for (const [i, userId] of hostile.entries()) {
      expect(await reserve(idOf(`o${i}`), userId)).toEqual({ kind: 'reserved' });
      expect(await reserve(idOf(`o${i}`), userId)).toEqual({ kind: 'reserved' });
      expect(await reserve(idOf(`again${i}`), userId)).toEqual({ kind: 'user_holds' });
    }
    expect(new Set(await own.redis.smembers(`${keys}:users`))).toEqual(new Set(hostile));
    const held = await listHeld(own.stock, lastActivity, 0);
    expect(new Set(held.map(({ userId }) => userId))).toEqual(new Set(hostile));
    await confirm(idOf('o0'));
    await release(...hostile.map((_, i) => idOf(`o${i}`)));
    expect(await counts()).toEqual(counted(99, 0, 1, 1));
    expect(await own.redis.smembers(`${keys}:users`)).toEqual([hostile[0]]);
  });
});
