import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Activity, ChangedCapacity, OperatorRequest, StoredAnswer } from '../src/index.ts';
import { createActivity, type Fixture, newOrder, openFixture } from './fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture?.close());

const asBoss: OperatorRequest = { actor: 'boss', reason: 'a bigger hall' };
const answer = ({ activity }: ChangedCapacity): StoredAnswer => ({
  status: 200,
  body: Buffer.from(JSON.stringify(activity)),
});
const change = (activity: Activity, capacity: number) =>
  fixture.repository.changeCapacity(activity.id, capacity, asBoss, answer);
const rowOf = async ({ id }: Activity) =>
  (await fixture.query('SELECT capacity, available, capacity_version FROM activity WHERE id = ?', [id]))[0];

describe('changing the capacity', () => {
  it('up and down moves what is available by the difference, and owes Redis the version and the number', async () => {
    const activity = await createActivity(fixture.repository, { capacity: 10 });
    await fixture.repository.createOrders([newOrder(activity, { quantity: 4 })]);
    const up = await change(activity, 25);
    expect(up).toMatchObject({
      kind: 'done',
      result: {
        activity: { capacity: 25, available: 21 },
        effect: { kind: 'capacity', activityId: activity.id, version: 2, capacity: 25 },
      },
    });
    expect(await rowOf(activity)).toEqual({ capacity: 25, available: 21, capacity_version: 2 });
    expect((await change(activity, 4)).kind).toBe('done');
    expect(await rowOf(activity)).toEqual({ capacity: 4, available: 0, capacity_version: 3 });
    const effects = await fixture.query(
      "SELECT kind, detail FROM effect WHERE activity_id = ? AND kind = 'capacity' ORDER BY id",
      [activity.id],
    );
    expect(effects.map(({ detail }) => detail)).toEqual(['2:25', '3:4']);
  });

  it('below what is held and sold is refused with the numbers, and changes nothing', async () => {
    const activity = await createActivity(fixture.repository, { capacity: 10 });
    await fixture.repository.createOrders([newOrder(activity, { quantity: 4 })]);
    expect(await change(activity, 3)).toEqual({
      kind: 'refused',
      result: { kind: 'below_sold', capacity: 10, taken: 4 },
    });
    expect(await rowOf(activity)).toEqual({ capacity: 10, available: 6, capacity_version: 1 });
  });

  it('to what it is already owes Redis nothing', async () => {
    const activity = await createActivity(fixture.repository, { capacity: 10 });
    expect(await change(activity, 10)).toMatchObject({ kind: 'done', result: { effect: null } });
    expect(await rowOf(activity)).toEqual({ capacity: 10, available: 10, capacity_version: 1 });
  });

  it('of no activity is not found', async () => {
    const activity = await createActivity(fixture.repository);
    expect(await change({ ...activity, id: activity.id + 999 }, 1)).toEqual({
      kind: 'refused',
      result: { kind: 'not_found' },
    });
  });

  it('up and down while buyers create: never sold beyond it, and available stays exact (I1)', async () => {
    const activity = await createActivity(fixture.repository, { capacity: 50 });
    const other = await fixture.openAnother();
    let selling = true;
    const changing = (async () => {
      let done = 0;
      let refused = 0;
      for (let round = 0; selling; round += 1) {
        const result = await change(activity, round % 2 === 0 ? 10 + round : 60 + round);
        if (result.kind === 'done') done += 1;
        else refused += 1;
        const row = await rowOf(activity);
        const [sums] = await fixture.query(
          `SELECT a.capacity, a.available, CAST(COALESCE(SUM(o.quantity), 0) AS SIGNED) AS sold
           FROM activity a LEFT JOIN orders o ON o.activity_id = a.id AND o.status = 'PENDING'
           WHERE a.id = ? GROUP BY a.id`,
          [activity.id],
        );
        expect(Number(sums?.sold) + Number(sums?.available), JSON.stringify({ row, sums })).toBe(
          sums?.capacity,
        );
      }
      return { done, refused };
    })();
    const kinds = new Map<string, number>();
    for (let batch = 0; batch < 40; batch += 1) {
      const orders = Array.from({ length: 5 }, () => newOrder(activity));
      const { results } = await other.createOrders(orders);
      for (const { kind } of results) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }
    selling = false;
    const { done } = await changing;
    expect(done).toBeGreaterThan(2);
    expect(kinds.get('created') ?? 0).toBeGreaterThanOrEqual(10);
  });
});
