import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BusyActivities, createBusyActivities } from '../src/busy-activities.ts';
import { givePlaces, lockPlaces, takePlaces } from '../src/change-places.ts';
import { createOrders } from '../src/create-orders.ts';
import { type Database, openDatabase } from '../src/database.ts';
import type { Session } from '../src/session.ts';
import { inTransaction } from '../src/transaction.ts';
import {
  collectLog,
  createActivity,
  createDueOrders,
  type Fixture,
  idsOf,
  newOrder,
  openFixture,
} from './fixture.ts';

let fixture: Fixture;
let database: Database;
beforeAll(async () => {
  fixture = await openFixture();
  database = openDatabase({ url: fixture.url, poolMax: 2, queryTimeoutMs: 10_000 }, collectLog([]));
});
afterAll(async () => {
  await database.close();
  await fixture.close();
});

const byMessage = { cause: 'message' } as const;
/** Longest that one statement waits for a lock; see database.ts. */
const lockWaitMs = 3_000;
/** Less than a lock wait, with room for a busy machine. */
const promptMsMax = 2_000;

async function timed<T>(work: Promise<T>): Promise<{ result: T; ms: number }> {
  const startedAt = performance.now();
  const result = await work;
  return { result, ms: performance.now() - startedAt };
}

test('an activity whose row is locked for long holds up the close of no other: once for one lock wait, then not at all', async () => {
  const { repository } = fixture;
  const locked = await createActivity(repository);
  const free = await createActivity(repository);
  const stuck = idsOf(await createDueOrders(repository, locked, 20));
  const first = idsOf(await createDueOrders(repository, free, 20));
  const second = idsOf(await createDueOrders(repository, free, 20));
  const holder = await fixture.lockActivity(locked.id);

  const once = await timed(repository.closeExpired([...stuck, ...first], byMessage));
  expect(once.result.closed.map(({ orderId }) => orderId).sort()).toEqual([...first].sort());
  expect([...once.result.contended].sort()).toEqual([...stuck].sort());
  expect(once.ms).toBeGreaterThan(lockWaitMs - 500);
  expect(once.ms).toBeLessThan(lockWaitMs + promptMsMax);

  const then = await timed(repository.closeExpired([...stuck, ...second], byMessage));
  expect(then.result.closed).toHaveLength(20);
  expect(then.ms).toBeLessThan(promptMsMax);

  await holder.release();
  const after = await timed(repository.closeExpired(stuck, byMessage));
  expect(after.result.closed).toHaveLength(20);
  expect((await repository.readActivity(locked.id))?.available).toBe(locked.capacity);
  expect((await repository.readActivity(free.id))?.available).toBe(free.capacity);
}, 30_000);

test('the sweep passes over a locked activity too, also when its orders are the oldest', async () => {
  const { repository } = fixture;
  const locked = await createActivity(repository);
  const other = await createActivity(repository);
  const free = await createActivity(repository);
  await createDueOrders(repository, locked, 30, 60_000);
  await createDueOrders(repository, other, 5, 50_000);
  await createDueOrders(repository, free, 10, 1_000);
  const holders = [await fixture.lockActivity(locked.id), await fixture.lockActivity(other.id)];
  const sweep = () => repository.closeOverdue({ graceMs: 0, limit: 40 });

  // Both locks are met together: one lock wait, not two.
  const once = await timed(sweep());
  expect(once.result.closed).toHaveLength(10);
  expect(once.ms).toBeLessThan(lockWaitMs + promptMsMax);
  expect((await timed(sweep())).ms).toBeLessThan(promptMsMax);
  for (const holder of holders) await holder.release();
  expect((await sweep()).closed).toHaveLength(35);
}, 30_000);

test('a cancel of a locked activity says that the store is busy, and changes nothing', async () => {
  const { repository } = fixture;
  const activity = await createActivity(repository);
  const [order] = await createDueOrders(repository, activity, 1);
  const holder = await fixture.lockActivity(activity.id);
  await expect(repository.cancelOrder(order?.id ?? '', order?.userId ?? '')).rejects.toMatchObject({
    code: 'LAPSE_MYSQL_UNAVAILABLE',
  });
  await holder.release();
  expect((await repository.readOrder(order?.id ?? ''))?.status).toBe('PENDING');
}, 30_000);

test('an activity whose row is locked for long stops the sale of no other: once for one lock wait, then not at all', async () => {
  const { repository } = fixture;
  const locked = await createActivity(repository);
  const free = await createActivity(repository);
  const mixed = () => [newOrder(locked), newOrder(free), newOrder(locked), newOrder(free)];
  const kinds = async (orders: ReturnType<typeof mixed>) =>
    (await repository.createOrders(orders)).results.map(({ kind }) => kind);
  const partly = ['activity_locked', 'created', 'activity_locked', 'created'];
  const holder = await fixture.lockActivity(locked.id);

  const once = await timed(kinds(mixed()));
  expect(once.result).toEqual(partly);
  expect(once.ms).toBeLessThan(lockWaitMs + promptMsMax);
  const refused = mixed();
  const then = await timed(kinds(refused));
  expect(then.result).toEqual(partly);
  expect(then.ms).toBeLessThan(promptMsMax);

  await holder.release();
  expect(await kinds(refused)).toEqual(['created', 'same_key', 'created', 'same_key']);
  expect((await repository.readActivity(locked.id))?.available).toBe(98);
  expect((await repository.readActivity(free.id))?.available).toBe(96);
}, 30_000);

test('where the last places are given out, too, a locked activity refuses its own orders alone', async () => {
  const { repository } = fixture;
  const locked = await createActivity(repository);
  const scarce = await createActivity(repository, { capacity: 1 });
  const holder = await fixture.lockActivity(locked.id);
  const orders = [newOrder(scarce), newOrder(scarce), newOrder(locked)];
  const { results } = await repository.createOrders(orders);
  expect(results.map(({ kind }) => kind)).toEqual(['created', 'sold_out', 'activity_locked']);
  await holder.release();
}, 30_000);

test('a locked activity is named, whichever statement meets it, and not a free one with a lower number', async () => {
  const [free, locked, last] = await Promise.all([1, 2, 3].map(() => createActivity(fixture.repository)));
  if (!free || !locked || !last) throw new Error('three were made');
  const [lower, middle, higher] = [free.id, locked.id, last.id].sort((a, b) => a - b) as [
    number,
    number,
    number,
  ];
  const ids = [higher, middle, lower];
  const holder = await fixture.lockActivity(middle);
  // None at all: what is free keeps its counts.
  const changes = ids.map((activityId) => ({ activityId, places: 0, generation: 1 }));
  const statements: ((session: Session) => Promise<unknown>)[] = [
    (session) => lockPlaces(session, ids),
    (session) => takePlaces(session, changes),
    (session) => givePlaces(session, changes),
  ];
  for (const statement of statements) {
    const meeting = inTransaction(database, statement, () => null);
    await expect(meeting).rejects.toMatchObject({ activityId: middle, activityIds: ids });
  }
  await holder.release();
}, 30_000);

test('several locked activities stop the sale of the others for one lock wait, not for one each', async () => {
  const { repository } = fixture;
  const free = await createActivity(repository);
  const orders = [newOrder(free)];
  const holders = [];
  for (let count = 1; count <= 3; count += 1) {
    const locked = await createActivity(repository);
    holders.push(await fixture.lockActivity(locked.id));
    orders.push(newOrder(locked));
  }
  const once = await timed(repository.createOrders(orders));
  for (const holder of holders) await holder.release();
  expect(once.result.results.map(({ kind }) => kind)).toEqual([
    'created',
    'activity_locked',
    'activity_locked',
    'activity_locked',
  ]);
  expect(once.ms).toBeLessThan(lockWaitMs + promptMsMax);
}, 30_000);

test('an activity that was waited for in vain and is free by now sells', async () => {
  const activity = await createActivity(fixture.repository);
  const holder = await fixture.lockActivity(activity.id);
  const busy = createBusyActivities();
  // As when a neighbour's sale held it while waiting for another activity.
  const freedAfterTheWait: BusyActivities = {
    avoid: (on, attempt) =>
      busy.avoid(on, async (locked) => {
        try {
          return await attempt(locked);
        } catch (error) {
          await holder.release();
          throw error;
        }
      }),
  };
  const { results } = await createOrders(database, freedAfterTheWait, [newOrder(activity)]);
  expect(results).toEqual([{ kind: 'created' }]);
}, 30_000);

test('an activity that stayed locked and is in use for a moment, as in any sale, is not refused', async () => {
  const activity = await createActivity(fixture.repository);
  const busy = createBusyActivities();
  const kept = await fixture.lockActivity(activity.id);
  const { results: refused } = await createOrders(database, busy, [newOrder(activity)]);
  expect(refused).toEqual([{ kind: 'activity_locked' }]);
  await kept.release();

  const moment = await fixture.lockActivity(activity.id);
  let isHeld = true;
  const freedAfterOneLook: Database = {
    ...database,
    withSession: async (use) => {
      const result = await database.withSession(use);
      if (isHeld) await moment.release();
      isHeld = false;
      return result;
    },
  };
  const { results } = await createOrders(freedAfterOneLook, busy, [newOrder(activity)]);
  expect(results).toEqual([{ kind: 'created' }]);
}, 30_000);

test('an activity that is waited for in vain time and again is refused in the end, not waited for without end', async () => {
  const activity = await createActivity(fixture.repository);
  const busy = createBusyActivities();
  let holder = await fixture.lockActivity(activity.id);
  let waits = 0;
  const neverFreeWhenWanted: BusyActivities = {
    avoid: (on, attempt) =>
      busy.avoid(
        {
          ...on,
          withSession: async (use) => {
            const result = await on.withSession(use);
            holder = await fixture.lockActivity(activity.id);
            return result;
          },
        },
        async (locked) => {
          try {
            return await attempt(locked);
          } catch (error) {
            waits += 1;
            await holder.release();
            throw error;
          }
        },
      ),
  };
  const { results } = await createOrders(database, neverFreeWhenWanted, [newOrder(activity)]);
  await holder.release();
  expect(results).toEqual([{ kind: 'activity_locked' }]);
  expect(waits).toBe(2);
}, 30_000);
