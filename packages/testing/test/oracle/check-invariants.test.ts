import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeVerdict, type OracleOptions } from '../../src/index.ts';
import { judgeWorld } from './judge-world.ts';
import { deadlines } from './plants/deadlines.ts';
import { money } from './plants/money.ts';
import { notices } from './plants/notices.ts';
import { places } from './plants/places.ts';
import { steps } from './plants/steps.ts';
import { unfinished } from './plants/unfinished.ts';
import { holds } from './spoil.ts';
import { activity, openWorld, type World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(() => world.reset());

const judge = (options: Partial<OracleOptions> = {}) => judgeWorld(world, options);

const plants = [places, steps, money, deadlines, notices, unfinished].flat();

describe('the oracle', () => {
  it('finds nothing wrong in a system at rest, and counts and times what is there', async () => {
    const verdict = await judge();
    expect(describeVerdict(verdict)).not.toContain('FAIL');
    expect(verdict.ok).toBe(true);
    expect(verdict.checks.map(({ id }) => id)).toEqual(Array.from({ length: 11 }, (_, i) => `I${i + 1}`));
    expect(verdict.counts).toEqual({
      activities: 1,
      orders: { PENDING: 1, PAID: 1, TIMEOUT_CLOSED: 2, CANCELLED: 1, ABORTED: 1 },
      units: { capacity: 10, available: 7, pending: 2, paid: 1, credited: 5 },
      payments: { CAPTURED: 1, REFUND_PENDING: 1 },
      notifications: { 'REMINDER SENT': 4, 'CLOSED SENT': 2 },
      parked: { orders: 0, messages: 0, deadLetters: 0, notifications: 0 },
    });
    expect(verdict.lateness).toEqual({ count: 2, p50: 20, p99: 400, max: 400, early: 0 });
  });

  it.each(plants)('names $name', async ({ plant, fails, says, order }) => {
    await plant(world);
    const verdict = await judge();
    expect(verdict.failed.map(({ id }) => id)).toEqual(fails);
    expect(verdict.ok).toBe(false);
    expect(describeVerdict(verdict)).toMatch(says);
    const named = new Set(verdict.failed.flatMap(({ orderIds }) => orderIds));
    if (order !== undefined) expect(named).toContain(world.orders[order].id);
  });

  it.each(plants.filter(({ always }) => always))(
    'names $name while the system runs, too',
    async ({ plant, says }) => {
      await plant(world);
      expect(describeVerdict(await judge({ atRest: false }))).toMatch(says);
    },
  );

  it('leaves what is only true at rest unchecked while the system runs, and says so', async () => {
    for (const { plant } of plants.filter(({ always }) => !always)) {
      await world.reset();
      await plant(world);
      const { ok, checks } = await judge({ atRest: false });
      expect(ok).toBe(true);
      expect(checks.filter(({ detail }) => detail.startsWith('not checked')).map(({ id }) => id)).toEqual([
        'I3',
        'I8',
        'I11',
      ]);
    }
  });

  it.each(plants.filter(({ ofNobody }) => ofNobody))(
    'names $name whichever activities it looks at',
    async ({ plant, says }) => {
      await plant(world);
      expect(describeVerdict(await judge({ activityIds: [43] }))).toMatch(says);
    },
  );

  it('looks at the activities asked for alone', async () => {
    await world.sql.query('UPDATE activity SET available = 6');
    expect((await judge({ activityIds: [43] })).ok).toBe(true);
    expect((await judge({ activityIds: [42, 43] })).ok).toBe(false);
    expect((await judge({ activityIds: [] })).ok).toBe(true);
  });

  it('counts payments and notices of the activities asked for alone', async () => {
    const { counts } = await judge({ activityIds: [43] });
    expect(counts.payments).toEqual({});
    expect(counts.notifications).toEqual({});
    expect((await judge({ activityIds: [42] })).counts).toEqual((await judge()).counts);
  });

  it('judges one instant of a system that moves under it', async () => {
    const { sql, redis, orders } = world;
    let moving = true;
    const move = async () => {
      while (moving) {
        await sql.query(
          `UPDATE activity a JOIN orders o ON o.activity_id = a.id AND o.id = ?
           SET a.available = a.available - 1, o.quantity = o.quantity + 1 WHERE a.available > 0`,
          [orders.pending.bytes],
        );
        await redis.eval(
          "redis.call('DECR', KEYS[1]) redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])",
          2,
          `${activity.keys}:stock`,
          holds,
          orders.pending.id,
          `h:3:1:x`,
        );
        await sql.query(
          `UPDATE activity a JOIN orders o ON o.activity_id = a.id AND o.id = ?
           SET a.available = a.available + 1, o.quantity = o.quantity - 1 WHERE o.quantity > 2`,
          [orders.pending.bytes],
        );
        await redis.eval(
          "redis.call('INCR', KEYS[1]) redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])",
          2,
          `${activity.keys}:stock`,
          holds,
          orders.pending.id,
          `h:2:1:x`,
        );
      }
    };
    const moved = move();
    for (let i = 0; i < 30; i += 1) {
      const verdict = await judge({ atRest: false });
      expect(describeVerdict(verdict)).not.toContain('FAIL');
    }
    moving = false;
    await moved;
  });
});
