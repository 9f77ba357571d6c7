import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StockSnapshot } from '../src/index.ts';
import {
  emptySnapshot,
  idOf,
  listHeld,
  loadOver,
  openTestStock,
  snapshotOf,
  type TestStock,
} from './open-test-stock.ts';

let own: TestStock;

beforeAll(async () => {
  own = await openTestStock();
});
afterAll(() => own.close());

const reserveIn = (activityId: number, generation: number, orderId: string, userId = orderId) =>
  own.stock.reserve({
    activityId,
    generation,
    stockRunId: own.runIdOf(activityId),
    orderId,
    userId,
    quantity: 1,
  });

function holdsOf(count: number, state: 'held' | 'sold' = 'held'): StockSnapshot['holds'] {
  return Array.from({ length: count }, (_, i) => ({ orderId: `o${i}`, userId: `u${i}`, quantity: 1, state }));
}

describe('an activity that is not loaded', () => {
  it('sells nothing, releases nothing, confirms nothing and writes nothing', async () => {
    expect(await reserveIn(1, 1, 'o1')).toEqual({ kind: 'not_ready' });
    expect(await own.stock.release(1, ['o1'])).toEqual({ kind: 'not_ready' });
    expect(await own.stock.confirm(1, ['o1'])).toEqual({ kind: 'not_ready' });
    expect(await own.stock.readCounts(1)).toBeNull();
    expect(await own.stock.readLoad(1)).toBeNull();
    expect(await own.keysOf(1)).toEqual([]);
  });

  it('is what a flush in the middle of a sale leaves: nobody is sold what MySQL may have sold', async () => {
    await loadOver(own.stock, emptySnapshot(2, 100));
    await reserveIn(2, 1, 'o1');
    await own.flush();
    expect(await reserveIn(2, 1, 'o2')).toEqual({ kind: 'not_ready' });
    expect(await own.stock.release(2, ['o1'])).toEqual({ kind: 'not_ready' });
  });

  it('is also one whose generation or load is of another type: a load puts it right', async () => {
    await loadOver(own.stock, emptySnapshot(4, 100));
    for (const key of ['activity:{4}:gen', 'activity:{4}:load']) {
      await own.redis.del(key);
      await own.redis.rpush(key, 'no text');
    }
    expect(await own.stock.readLoad(4)).toBeNull();
    expect(await own.stock.readLoadToken(4)).toBe('');
    await loadOver(own.stock, emptySnapshot(4, 100, 2));
    expect(await reserveIn(4, 2, 'o1')).toEqual({ kind: 'reserved' });
    await expect(own.stock.load(emptySnapshot(4, 100, 2), '')).rejects.toThrow('loaded by somebody else');
  });

  it('is also one whose counter or keys no script wrote: nothing is held, and a load puts it right', async () => {
    const [stock, users, holds] = ['activity:{5}:stock', 'activity:{5}:users', 'activity:{5}:holds'];
    const spoil: (() => Promise<unknown>)[] = [
      ...['12.5', '1e3', '0x10', 'nan', 'inf', ' 5', '007', '-0', '1'.repeat(16)].map(
        (text) => () => own.redis.set(stock, text),
      ),
      ...[stock, users, holds].map((key) => async () => {
        await own.redis.del(key);
        await own.redis.rpush(key, 'of another type');
      }),
    ];
    for (const [at, damage] of spoil.entries()) {
      await loadOver(own.stock, emptySnapshot(5, 100, at + 1));
      await damage();
      expect(await reserveIn(5, at + 1, 'o1')).toEqual({ kind: 'not_ready' });
      await loadOver(own.stock, emptySnapshot(5, 100, at + 1));
      expect(await reserveIn(5, at + 1, 'o1')).toEqual({ kind: 'reserved' });
    }
  });

  it('is also one that lost its counter alone', async () => {
    await loadOver(own.stock, emptySnapshot(3, 100));
    await own.redis.del('activity:{3}:stock');
    expect(await reserveIn(3, 1, 'o1')).toEqual({ kind: 'not_ready' });
    expect(await own.stock.release(3, ['o1'])).toEqual({ kind: 'not_ready' });
    expect(await own.stock.readCounts(3)).toBeNull();
    // Else the sweeper would take it for loaded, and it would never sell again.
    expect(await own.stock.readLoad(3)).toBeNull();
  });
});

describe('load', () => {
  it('rebuilds counts, holds and users from a snapshot of any size', async () => {
    const holds = holdsOf(2_500).map((hold, i) => (i < 500 ? { ...hold, state: 'sold' as const } : hold));
    await loadOver(own.stock, snapshotOf(10, 7, 63, holds));
    const counts = { stock: 63, held: 2_000, sold: 500, users: 2_500, generation: 7, steady: true };
    expect(await own.stock.readCounts(10)).toEqual(counts);
    expect(await reserveIn(10, 7, 'new', 'u1')).toEqual({ kind: 'user_holds' });
    expect(await own.stock.release(10, ['o0', 'o600'])).toEqual({ kind: 'done', units: [0, 1] });
    expect(await own.redis.ttl('activity:{10}:holds')).toBe(-1);
    expect(await own.redis.ttl('activity:{10}:users')).toBe(-1);
    expect(await own.redis.ttl('activity:{10}:seen')).toBe(-1);
    expect(await own.keysOf(10)).toHaveLength(7);
  });

  it('replaces everything that was there, and refuses reserves of the old generation', async () => {
    await loadOver(own.stock, snapshotOf(11, 1, 5, holdsOf(20)));
    await loadOver(own.stock, emptySnapshot(11, 8, 2));
    expect(await own.stock.readCounts(11)).toMatchObject({ stock: 8, held: 0, users: 0, generation: 2 });
    expect(await reserveIn(11, 1, 'old')).toEqual({ kind: 'not_ready' });
    expect(await reserveIn(11, 2, 'new')).toEqual({ kind: 'reserved' });
    expect(await own.stock.readLoad(11)).toEqual({ generation: 2, runId: own.runIdOf(11) });
  });

  it('at once with another and with reserves: one snapshot is there whole, never a mix', async () => {
    const many = snapshotOf(12, 1, 1_000, holdsOf(3_000));
    const few = snapshotOf(12, 1, 3_900, holdsOf(100));
    await loadOver(own.stock, many);
    let reserved = 0;
    const rush = async () => {
      for (let i = 0; i < 200; i += 1) {
        const { kind } = await reserveIn(12, 1, `r${i}`);
        if (kind === 'reserved') reserved += 1;
      }
    };
    const loads = [many, few, many].map((snapshot) => loadOver(own.stock, snapshot));
    // One that another one overtook is refused.
    await Promise.all([Promise.allSettled(loads), rush()]);
    const counts = await own.stock.readCounts(12);
    expect((counts?.stock ?? 0) + (counts?.held ?? 0)).toBe(4_000);
    expect(counts?.held).toBe(counts?.users);
    expect(reserved).toBe(200);
  });

  it('refuses a snapshot in which two holds share a user or an order, and keeps what was there', async () => {
    await loadOver(own.stock, emptySnapshot(13, 5));
    const [one, two] = [{ orderId: 'o1', userId: 'ann', quantity: 1, state: 'held' as const }, 'o2'];
    const twice = snapshotOf(13, 2, 3, [one, { ...one, orderId: two }]);
    await expect(loadOver(own.stock, twice)).rejects.toThrow(/share an order or a user/);
    await expect(loadOver(own.stock, { ...twice, holds: [one, { ...one, userId: 'b' }] })).rejects.toThrow(
      /share/,
    );
    await expect(loadOver(own.stock, emptySnapshot(13, -1, 2))).rejects.toThrow(RangeError);
    expect(await own.stock.readCounts(13)).toMatchObject({ stock: 5, held: 0, generation: 1 });
  });
});

describe('a load that comes late', () => {
  it('is refused once another one has come in between, also under the same generation', async () => {
    await loadOver(own.stock, emptySnapshot(30, 5));
    const replaces = await own.stock.readLoadToken(30);
    const late = { ...emptySnapshot(30, 5, 2), stock: 5 };
    await own.stock.load(snapshotOf(30, 2, 3, holdsOf(2)), replaces);
    await expect(own.stock.load(late, replaces)).rejects.toThrow('loaded by somebody else');
    expect(await own.stock.readCounts(30)).toMatchObject({ stock: 3, held: 2, generation: 2 });
    // Negative control: once it says that it replaces that one, the generation lets it pass, and two places are free that are held.
    await loadOver(own.stock, late);
    expect(await own.stock.readCounts(30)).toMatchObject({ stock: 5, held: 0, generation: 2 });
  });

  it('into a server that has nothing, says so: one that was loaded meanwhile is left alone', async () => {
    const replaces = await own.stock.readLoadToken(31);
    expect(await own.stock.readLoadToken(31)).toBe(replaces);
    await own.stock.load(emptySnapshot(31, 5), replaces);
    await expect(own.stock.load(emptySnapshot(31, 9), replaces)).rejects.toThrow('loaded by somebody else');
  });

  it('is refused also where Redis was empty when it left, and is empty again when it comes', async () => {
    const key = 'activity:{32}:load';
    const replaces = await own.stock.readLoadToken(32);
    await own.stock.load(snapshotOf(32, 2, 3, holdsOf(2)), replaces);
    await own.flush();
    const late = { ...emptySnapshot(32, 5, 2), stock: 5 };
    await expect(own.stock.load(late, replaces)).rejects.toThrow('loaded by somebody else');
    expect(await own.stock.readLoad(32)).toBeNull();
    // Negative control: were the two times without a load not told apart, it would be taken for the load of today.
    await own.redis.set(key, replaces);
    await own.stock.load(late, replaces);
    expect(await own.stock.readLoad(32)).toMatchObject({ generation: 2 });
  });
});

describe('holds', () => {
  it('are listed once old enough, so that a reserve under way is not taken for an orphan', async () => {
    await loadOver(own.stock, snapshotOf(20, 1, 10, []));
    await reserveIn(20, 1, idOf('o1'), 'ann');
    await reserveIn(20, 1, idOf('o2'), 'bob');
    await own.stock.confirm(20, [idOf('o2')]);
    expect(await listHeld(own.stock, 20, 60_000)).toEqual([]);
    const held = await listHeld(own.stock, 20, 0);
    expect(held).toMatchObject([{ orderId: idOf('o1'), userId: 'ann', quantity: 1, state: 'held' }]);
    expect(Math.abs((held[0]?.atMs ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  it('that nobody here wrote are passed over, and the others are listed all the same', async () => {
    await loadOver(own.stock, snapshotOf(22, 1, 10, []));
    await reserveIn(22, 1, idOf('o1'), 'ann');
    await own.redis.hset('activity:{22}:holds', idOf('o2'), 'x:1', 'no order', `h:1:${Date.now()}:bob`);
    expect((await listHeld(own.stock, 22, 0)).map(({ userId }) => userId)).toEqual(['ann']);
  });

  it('of released orders are forgotten once old enough, and held and sold ones never', async () => {
    await loadOver(own.stock, snapshotOf(21, 1, 10, []));
    for (const order of ['held', 'sold', 'gone']) await reserveIn(21, 1, order);
    await own.stock.confirm(21, ['sold']);
    await own.stock.release(21, ['gone', 'never known']);
    const forget = (olderThanMs: number) =>
      own.stock.forgetReleased(21, ['held', 'sold', 'gone', 'never known'], { olderThanMs });
    expect(await forget(60_000)).toBe(0);
    expect(await reserveIn(21, 1, 'gone')).toEqual({ kind: 'released' });
    expect(await forget(0)).toBe(2);
    expect((await own.redis.hkeys('activity:{21}:holds')).toSorted()).toEqual(['held', 'sold']);
    expect(await own.stock.release(21, ['gone'])).toEqual({ kind: 'done', units: [0] });
    expect(await own.stock.readCounts(21)).toMatchObject({ stock: 8, held: 1, sold: 1 });
  });
});
