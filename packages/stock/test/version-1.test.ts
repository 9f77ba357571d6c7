import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { emptySnapshot, idOf, loadOver, openTestStock, type TestStock } from './open-test-stock.ts';

const folder = new URL('../../contracts/test/fixtures/version-1/', import.meta.url);
const textOf = (name: string): string => readFileSync(new URL(name, folder), 'utf8');
const { createTime } = JSON.parse(textOf('expected.json')) as { createTime: number };

const activityId = 42;
const holds = {
  held: 'hold-held.bytes',
  sold: 'hold-sold.bytes',
  released: 'hold-released.bytes',
  never: 'hold-released-without-a-start.bytes',
} as const;
const userId = '张三: "the \\ quick" 🎟';
const ids = Object.keys(holds).map(idOf);
const key = (name: string): string => `activity:{${activityId}}:${name}`;

let own: TestStock;
beforeAll(async () => {
  own = await openTestStock();
  // Seven places of ten are free: two are held, and one is sold.
  await loadOver(own.stock, emptySnapshot(activityId, 7));
  for (const [name, file] of Object.entries(holds)) {
    await own.redis.hset(key('holds'), idOf(name), textOf(file));
  }
  await own.redis.sadd(key('users'), userId, 'buyer');
});
afterAll(() => own.close());

test('holds that a process of version 1 wrote are read as what they were', async () => {
  const looks = await Promise.all(ids.map((id) => own.stock.readHold(activityId, id)));
  const releasedAt = createTime + 900_000;
  expect(looks.map((look) => (look.kind === 'hold' ? look.hold : look))).toMatchObject([
    { state: 'held', quantity: 2, userId, atMs: createTime },
    { state: 'sold', quantity: 1, userId: 'buyer', atMs: createTime },
    { state: 'released', quantity: 3, userId: '', atMs: releasedAt, heldFromMs: createTime },
    { state: 'released', quantity: 0, userId: '', atMs: createTime, heldFromMs: null },
  ]);
});

test("today's release gives back what they held, and nothing else", async () => {
  const released = await own.stock.release(activityId, ids);
  expect(released).toMatchObject({ units: [2, 0, 0, 0] });
  expect(await own.redis.get(key('stock'))).toBe('9');
  expect(await own.redis.smembers(key('users'))).toEqual(['buyer']);
});

test('a hold of a version to come is not taken for one of today: nothing is given back', async () => {
  const id = idOf('tomorrow');
  await own.redis.hset(key('holds'), id, 'h2:1:1764000000000:buyer');
  expect(await own.stock.readHold(activityId, id)).toMatchObject({ kind: 'unreadable' });
  await expect(own.stock.release(activityId, [id])).rejects.toThrow(/LAPSE_STOCK_CORRUPT/);
  expect(await own.redis.get(key('stock'))).toBe('9');
});
