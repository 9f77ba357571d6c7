import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hashBuyer, mapBuyers, maySee } from '../src/seen-buyers.ts';
import {
  emptySnapshot,
  idOf,
  loadOver,
  openTestStock,
  snapshotOf,
  type TestStock,
} from './open-test-stock.ts';

let own: TestStock;
let activityId = 0;
const seenKey = () => `activity:{${activityId}}:seen`;

beforeAll(async () => {
  own = await openTestStock();
});
afterAll(() => own.close());
beforeEach(() => {
  activityId += 1;
});

async function ask(userId: string, generation = 1, quantity = 1): Promise<string> {
  const stockRunId = own.runIdOf(activityId);
  const orderId = idOf(`${activityId} ${generation} ${userId} ${Math.random()}`);
  return (await own.stock.reserve({ activityId, generation, stockRunId, orderId, userId, quantity })).kind;
}

describe('a buyer in a sale that is sold out', () => {
  it('is a newcomer until they have held a place, and none ever after, whatever became of it', async () => {
    await loadOver(own.stock, emptySnapshot(activityId, 1));
    const orderId = idOf('first');
    const order = { activityId, generation: 1, stockRunId: own.runIdOf(activityId), orderId, quantity: 1 };
    expect(await own.stock.reserve({ ...order, userId: 'ann' })).toEqual({ kind: 'reserved' });
    expect(await ask('bob')).toBe('sold_out_newcomer');
    await own.stock.release(activityId, [orderId]);
    await own.stock.forgetReleased(activityId, [orderId], { olderThanMs: 0 });
    expect(await ask('bob')).toBe('reserved');
    expect(await ask('ann')).toBe('sold_out');
    expect(await ask('eve')).toBe('sold_out_newcomer');
  });

  it('is none when the load knew an order of theirs, active or ended', async () => {
    const holds = [{ orderId: idOf('held'), userId: 'ann', quantity: 1, state: 'held' as const }];
    await loadOver(own.stock, { ...snapshotOf(activityId, 3, 0, holds), formerBuyers: ['bob', 'bob'] });
    await own.stock.release(activityId, [idOf('held')]);
    expect(await ask('ann', 3, 2)).toBe('sold_out');
    expect(await ask('bob', 3, 2)).toBe('sold_out');
    expect(await ask('eve', 3, 2)).toBe('sold_out_newcomer');
  });

  it('may be anybody where the load did not know who came before, and stays so', async () => {
    await loadOver(own.stock, emptySnapshot(activityId, 1));
    await loadOver(own.stock, { ...emptySnapshot(activityId, 1, 2), formerBuyers: null });
    expect(await ask('ann', 2)).toBe('reserved');
    expect(await ask('eve', 2)).toBe('sold_out');
    expect(await own.redis.exists(seenKey())).toBe(0);
  });

  it('may be anybody where the map is gone or is no text, and places are sold all the same', async () => {
    await loadOver(own.stock, emptySnapshot(activityId, 2));
    await own.redis.del(seenKey());
    expect(await ask('ann')).toBe('reserved');
    expect(await ask('eve', 1, 2)).toBe('sold_out');
    await own.redis.rpush(seenKey(), 'no text');
    expect(await ask('bob')).toBe('reserved');
    expect(await ask('eve')).toBe('sold_out');
  });

  it('stays known when the capacity changes: the map keeps its size', async () => {
    await loadOver(own.stock, emptySnapshot(activityId, 1));
    expect(await ask('ann')).toBe('reserved');
    await own.stock.setCapacity(activityId, 2, 1_000_000);
    await own.stock.setCapacity(activityId, 3, 1);
    expect(await ask('eve')).toBe('sold_out_newcomer');
    expect(await own.redis.getbit(seenKey(), hashBuyer('ann') % 8_192)).toBe(1);
    expect(await own.redis.strlen(seenKey())).toBe(1_024);
  });
});

describe('the map of buyers', () => {
  it.each([
    [0, 1_024],
    [1, 1_024],
    [256, 1_024],
    [257, 2_048],
    [100_000, 524_288],
    [1_000_000, 4_194_304],
    [50_000_000, 4_194_304],
  ])('of %i places has %i bytes', (capacity, bytes) => {
    expect(mapBuyers(capacity, [])).toHaveLength(bytes);
  });

  it('has the bits where Redis sets them', async () => {
    const buyers = Array.from({ length: 500 }, (_, index) => `buyer-${index} 用户`);
    const map = mapBuyers(1_000, buyers);
    for (const buyer of buyers) {
      await own.redis.setbit(seenKey(), hashBuyer(buyer) % (map.length * 8), 1);
    }
    const written = await own.redis.getBuffer(seenKey());
    expect(map.subarray(0, written?.length).equals(written ?? Buffer.alloc(0))).toBe(true);
    expect(map.subarray(written?.length).every((byte) => byte === 0)).toBe(true);
  });

  it('never forgets a buyer, and takes few strangers for one', () => {
    const buyers = Array.from({ length: 20_000 }, (_, index) => `buyer-${index}`);
    const map = mapBuyers(buyers.length, buyers);
    expect(buyers.every((buyer) => maySee(map, buyer))).toBe(true);
    const strangers = Array.from({ length: 20_000 }, (_, index) => `stranger-${index}`);
    expect(strangers.filter((stranger) => maySee(map, stranger)).length).toBeLessThan(20_000 * 0.04);
  });

  it('of a load of many parts is there whole', async () => {
    const formerBuyers = Array.from({ length: 5_000 }, (_, index) => `buyer-${index}`);
    await loadOver(own.stock, { ...emptySnapshot(activityId, 100_000), formerBuyers });
    const written = await own.redis.getBuffer(seenKey());
    expect(written?.equals(mapBuyers(100_000, formerBuyers))).toBe(true);
  });
});
