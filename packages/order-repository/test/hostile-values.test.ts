import { createConnection } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createActivity, type Fixture, newOrder, openFixture } from './fixture.ts';

/** What the API's schemas let nobody send; here they are off, and the repository stands alone. */
let fixture: Fixture;
let activityId: number;
beforeAll(async () => {
  fixture = await openFixture();
  const activity = await createActivity(fixture.repository);
  activityId = activity.id;
  await fixture.repository.createOrders([newOrder(activity)]);
});
afterAll(() => fixture?.close());

describe('a value that is no value', () => {
  it('an object in place of a number finds nothing', async () => {
    const everything = { id: 1 } as unknown as number;
    expect(await fixture.repository.readActivity(everything)).toBeUndefined();
    expect(await fixture.repository.findActiveOrder(everything, 'ann')).toBeUndefined();
  });

  it('negative control: the driver as it comes makes SQL of an object; as we set it, text', async () => {
    const format = async (options: object): Promise<string> => {
      const connection = await createConnection({ uri: fixture.url, ...options });
      try {
        return connection.format('UPDATE activity SET ?', [{ capacity: 1_000_000 }]);
      } finally {
        await connection.end();
      }
    };
    expect(await format({})).toContain('`capacity` = 1000000');
    expect(await format({ stringifyObjects: true })).toContain("'[object Object]'");
  });

  it.each([
    ['an object', { toString: () => '019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001' }],
    ['an array', ['019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001']],
    ['a number', 1],
    ['SQL', "' OR 1=1 -- "],
    ['nothing', null],
  ])('%s in place of an id is refused before any statement', async (_name, value) => {
    const id = value as string;
    const { repository } = fixture;
    await expect((async () => repository.readOrder(id))()).rejects.toThrow(TypeError);
    await expect((async () => repository.cancelOrder(id, 'ann'))()).rejects.toThrow(TypeError);
    await expect((async () => repository.closeExpired([id], { cause: 'sweep' }))()).rejects.toThrow(
      TypeError,
    );
  });

  it.each(["'; DROP TABLE orders; --", '\\', '\\\\\'"', '%', '_', '\u{1F4BA}', 'x'.repeat(128)])(
    'the text %j goes in and comes out as it is, and matches nothing else',
    async (text) => {
      const activity = await fixture.repository.readActivity(activityId);
      if (!activity) throw new Error('no activity');
      const order = newOrder(activity, { userId: text });
      await fixture.repository.createOrders([order]);
      expect((await fixture.repository.findActiveOrder(activityId, text))?.id).toBe(order.id);
      expect((await fixture.repository.readOrder(order.id))?.userId).toBe(text);
      expect(await fixture.repository.findActiveOrder(activityId, `${text}x`)).toBeUndefined();
    },
  );
});
