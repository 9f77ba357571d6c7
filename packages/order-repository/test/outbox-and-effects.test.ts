import { randomBytes } from 'node:crypto';
import { waitUntil } from '@lapse/testing';
import { v7 } from 'uuid';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { openDatabase } from '../src/database.ts';
import type { ActivitySnapshot, CreateOutcome, NewOrder } from '../src/index.ts';
import { insertCapacityEffect, insertReacquireEffect } from '../src/insert-stock-effect.ts';
import { listPendingEffects } from '../src/list-pending-effects.ts';
import { readFormerBuyers } from '../src/read-former-buyers.ts';
import { readPendingChanges } from '../src/read-pending-changes.ts';
import { rebuildSnapshot } from '../src/rebuild-snapshot.ts';
import { inTransaction } from '../src/transaction.ts';
import {
  captureOf,
  collectLog,
  createActivity,
  createDueOrders,
  type Fixture,
  idsOf,
  innodbLookMs,
  newOrder,
  openFixture,
} from './fixture.ts';

let fixture: Fixture | undefined;
let current: Fixture;
beforeEach(async () => {
  await fixture?.close();
  current = await openFixture();
  fixture = current;
});
afterAll(() => fixture?.close());

test('unsent outbox rows go to one claimer at a time, with their orders, until they are marked sent', async () => {
  const { repository } = current;
  const activity = await createActivity(repository);
  const made: CreateOutcome[] = [];
  for (let count = 0; count < 12; count += 1) made.push(await repository.createOrders([newOrder(activity)]));
  expect(await repository.claimOutbox({ olderThanMs: 60_000, limit: 50, leaseMs: 200 })).toEqual([]);
  const claims = await Promise.all(
    [1, 2, 3, 4].map(() => repository.claimOutbox({ olderThanMs: 0, limit: 50, leaseMs: 200 })),
  );
  const rows = claims.flat();
  expect(rows.map(({ id }) => id).sort()).toEqual(made.map(({ outbox }) => outbox?.id).sort());
  expect(rows.find(({ id }) => id === made[0]?.outbox?.id)).toEqual(made[0]?.outbox);

  const deliverAt = Date.now() + 1_000;
  await repository.markOutboxSent(rows.slice(0, 10).map(({ id }) => ({ id, messageId: 'm1', deliverAt })));
  await repository.markOutboxFailed([rows[10]?.id ?? '', rows[0]?.id ?? ''], 'broker away');
  let again: string[] = [];
  await waitUntil(
    async () => {
      again = [
        ...again,
        ...(await repository.claimOutbox({ olderThanMs: 0, limit: 50, leaseMs: 60_000 })).map(({ id }) => id),
      ];
      return again.length >= 2;
    },
    { what: 'lease and back-off to end' },
  );
  // The one whose lease ran out comes before the one that failed.
  expect(again).toEqual([rows[11]?.id, rows[10]?.id]);
  const timeline = await repository.readTimeline(rows[0]?.orders[0]?.orderId ?? '');
  expect(timeline?.messages).toMatchObject([{ messageId: 'm1', attempts: 1, lastError: null }]);
  expect(timeline?.messages[0]?.deliverAt?.getTime()).toBe(deliverAt);
});

test('effects stay until they are marked applied, least tried first', async () => {
  const { repository } = current;
  const activity = await createActivity(repository);
  const orders = await createDueOrders(repository, activity, 4);
  const { effects } = await repository.closeExpired(idsOf(orders.slice(0, 2)), { cause: 'message' });
  expect(await repository.listPendingEffects({ olderThanMs: 60_000, limit: 10 })).toEqual([]);
  expect(await repository.listPendingEffects({ olderThanMs: 0, limit: 10 })).toEqual(effects);
  const later = await repository.closeExpired(idsOf(orders.slice(2)), { cause: 'message' });
  const [next] = await repository.listPendingEffects({ olderThanMs: 0, limit: 1 });
  expect(next).toEqual(later.effects[0]);
  await repository.markEffectsApplied(effects.map(({ id }) => id));
  await repository.markEffectsApplied(effects.map(({ id }) => id));
  expect(await repository.listPendingEffects({ olderThanMs: 0, limit: 10 })).toEqual(later.effects);
});

test('a snapshot has every active order, a new generation, and the places that are left', async () => {
  const { repository } = current;
  const activity = await createActivity(repository);
  const [held, sold, gone] = [newOrder(activity, { quantity: 2 }), newOrder(activity), newOrder(activity)];
  await repository.createOrders([held, sold, gone, newOrder(await createActivity(repository))]);
  await repository.recordPayment(captureOf(sold));
  await repository.cancelOrder(gone.id, gone.userId);
  const seen: ActivitySnapshot[] = [];
  await repository.rebuildSnapshot(activity.id, async (snapshot) => {
    seen.push(snapshot);
    return 'run-2';
  });
  expect(await repository.readActivity(activity.id)).toMatchObject({ generation: 2, stockRunId: 'run-2' });
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatchObject({ activityId: activity.id, generation: 2, capacity: 100, available: 97 });
  expect([...(seen[0]?.holds ?? [])].sort((a, b) => (a.orderId < b.orderId ? -1 : 1))).toEqual([
    { orderId: held.id, userId: held.userId, quantity: 2, state: 'held' },
    { orderId: sold.id, userId: sold.userId, quantity: 1, state: 'sold' },
  ]);
  expect(seen[0]?.formerBuyers).toEqual([gone.userId]);
  // A first load that comes late does not stand in the way of the rebuild.
  await repository.noteFirstLoad(activity.id, { generation: 1, runId: 'run-1' });
  expect((await repository.readActivity(activity.id))?.stockRunId).toBe('run-2');
  await repository.rebuildSnapshot(999_999, async () => expect.unreachable());
});

test('former buyers are those whose key is kept: not the expired, not the fenced, and none of another activity', async () => {
  const { repository, url, query } = current;
  const activity = await createActivity(repository);
  const other = await createActivity(repository);
  const dayMs = 86_400_000;
  const old = (): NewOrder =>
    newOrder(activity, {
      id: v7({ msecs: Date.now() - dayMs - 60_000 }),
      createdAt: new Date(Date.now() - dayMs - 60_000),
    });
  const [closed, cancelled, elsewhere, expired, active] = [
    ...[newOrder(activity), newOrder(activity), newOrder(other), old(), newOrder(activity)],
  ] as [NewOrder, NewOrder, NewOrder, NewOrder, NewOrder];
  await repository.createOrders([closed, cancelled, elsewhere, expired, active]);
  for (const { id, userId } of [closed, cancelled, elsewhere, expired])
    await repository.cancelOrder(id, userId);
  const orphan = { orderId: v7(), activityId: activity.id, userId: 'nobody', quantity: 1 };
  await repository.fenceOrphans([orphan]);
  const read = async (max?: number) => {
    const database = openDatabase({ url, poolMax: 1, queryTimeoutMs: 5_000 }, collectLog([]));
    const found = await database.withSession((session) => readFormerBuyers(session, activity.id, max));
    await database.close();
    return found?.toSorted() ?? null;
  };
  const kept = [closed.userId, cancelled.userId].toSorted();
  expect(await read()).toEqual([...kept, expired.userId].toSorted());
  while (!(await repository.expireKeys({ limit: 100 })).drained);
  expect(await read()).toEqual(kept);
  expect(await read(2)).toEqual(kept);
  expect(await read(1)).toBeNull();
  // Negative control: it is the place of that walk that spares the reading, not the key alone.
  await query('UPDATE orders SET idempotency_key = ? WHERE id = ?', [
    'stands',
    Buffer.from(expired.id.replaceAll('-', ''), 'hex'),
  ]);
  expect(await read()).toEqual(kept);
});

test('a rebuild whose load fails changes nothing', async () => {
  const { repository } = current;
  const activity = await createActivity(repository);
  const failure = new Error('Redis is away');
  await expect(repository.rebuildSnapshot(activity.id, () => Promise.reject(failure))).rejects.toBe(failure);
  expect((await repository.readActivity(activity.id))?.generation).toBe(1);
});

test('a place taken again and a change of capacity come back as effects, with all that Redis must be told', async () => {
  const { repository, url } = current;
  const activity = await createActivity(repository);
  const [closed] = await createDueOrders(repository, activity, 1);
  if (!closed) throw new Error('an order was created');
  const again = [{ orderId: closed.id, userId: closed.userId, quantity: closed.quantity }];
  const database = openDatabase({ url, poolMax: 1, queryTimeoutMs: 5_000 }, collectLog([]));
  const written = await inTransaction(
    database,
    async (session) => [
      await insertReacquireEffect(session, randomBytes(16), activity.id, again),
      await insertCapacityEffect(session, activity.id, { version: 2, capacity: 250 }),
    ],
    () => null,
  );
  await database.close();
  const listed = await repository.listPendingEffects({ olderThanMs: 0, limit: 10 });
  const sorted = (effects: readonly { id: string }[]) => effects.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  expect(sorted(listed)).toEqual(sorted(written));
});

test('while a snapshot is loaded nobody creates or closes; a payment in between is confirmed once more', async () => {
  const { repository } = current;
  const activity = await createActivity(repository);
  const [due, paid] = await createDueOrders(repository, activity, 2);
  if (!due || !paid) throw new Error('two orders were created');
  const done: string[] = [];
  let waiting: Promise<unknown>[] = [];
  await repository.rebuildSnapshot(activity.id, async ({ holds }) => {
    expect(holds).toHaveLength(2);
    waiting = [
      repository.createOrders([newOrder(activity)]).then(({ results }) => done.push(`${results[0]?.kind}`)),
      repository.closeExpired([due.id], { cause: 'message' }).then(() => done.push('closed')),
    ];
    // Needs no lock of the activity, and its confirm reaches the old keys: applied, and lost with them.
    const { effect } = (await repository.recordPayment(captureOf(paid))) as { effect?: { id: string } };
    await repository.markEffectsApplied([effect?.id ?? '']);
    expect(done).toEqual([]);
    return 'run-1';
  });
  await Promise.all(waiting);
  expect(done.sort()).toEqual(['closed', 'stale_generation']);
  const effects = await repository.listPendingEffects({ olderThanMs: 0, limit: 10 });
  expect(effects.find(({ kind }) => kind === 'confirm')?.orderIds).toEqual([paid.id]);
});

test('a parked message is kept once, and another one under the same broker id beside it', async () => {
  const { repository } = current;
  const message = { messageId: 'm-1', phase: 1 as const, reason: 'not JSON', body: Buffer.from('{') };
  await repository.parkMessage(message);
  await repository.parkMessage(message);
  await repository.parkMessage({ ...message, body: Buffer.from('[') });
  expect(await current.query('SELECT kind, reason, body FROM parked ORDER BY id')).toEqual([
    { kind: 'message', reason: 'not JSON', body: Buffer.from('{') },
    { kind: 'message', reason: 'not JSON', body: Buffer.from('[') },
  ]);
});

test('an effect that names an order that is not there is reported once, and keeps no other from being applied', async () => {
  const { repository, url } = current;
  const activity = await createActivity(repository);
  const orders = await createDueOrders(repository, activity, 2);
  const database = openDatabase({ url, poolMax: 1, queryTimeoutMs: 5_000 }, collectLog([]));
  const missing = [{ orderId: newOrder(activity).id, userId: 'nobody', quantity: 1 }];
  await inTransaction(
    database,
    (session) => insertReacquireEffect(session, randomBytes(16), activity.id, missing),
    () => null,
  );
  await database.close();
  const { effects } = await repository.closeExpired(idsOf(orders), { cause: 'message' });
  for (let look = 0; look < 3; look += 1) {
    expect(await repository.listPendingEffects({ olderThanMs: 0, limit: 10 })).toEqual(effects);
  }
  expect(current.logged.filter(({ level }) => level === 'error')).toHaveLength(1);
});

test('with thousands of effects left, a look at the oldest and one at an activity read no more than they answer', async () => {
  const { repository, url } = current;
  const activity = await createActivity(repository);
  const effectRow = (activityId: number) => [
    randomBytes(16),
    randomBytes(16),
    'release',
    activityId,
    randomBytes(16),
  ];
  const insert = 'INSERT INTO effect (id, batch_id, kind, activity_id, order_ids) VALUES ?';
  await current.query(insert, [Array.from({ length: 3_000 }, (_, index) => effectRow(1_000 + index))]);
  await current.query(insert, [[effectRow(activity.id)]]);
  await current.query('ANALYZE TABLE effect');
  const database = openDatabase({ url, poolMax: 1, queryTimeoutMs: 5_000 }, collectLog([]));
  const rowsRead = async (look: () => Promise<unknown>): Promise<number> => {
    const total = async () => {
      const rows = await database.withSession((session) =>
        session.rows<{ Value: string }>("SHOW SESSION STATUS LIKE 'Handler_read%'"),
      );
      return rows.reduce((sum, { Value }) => sum + Number(Value), 0);
    };
    const before = await total();
    await look();
    return (await total()) - before;
  };
  try {
    const oldest = await rowsRead(() =>
      listPendingEffects(database, collectLog([]), { olderThanMs: 0, limit: 10 }),
    );
    expect(oldest).toBeLessThan(200);
    const changes = await rowsRead(async () => {
      expect((await readPendingChanges(database, activity.id))?.orderIds.size).toBe(1);
    });
    expect(changes).toBeLessThan(100);
  } finally {
    await database.close();
  }
});

test('a rebuild of more orders than a page, whose load takes longer than the server bears with silence, succeeds', async () => {
  const { repository, url } = current;
  const activity = await createActivity(repository, { capacity: 10_000 });
  await createDueOrders(repository, activity, 5_100);
  const database = openDatabase({ url, poolMax: 1, queryTimeoutMs: 5_000 }, collectLog([]));
  const silentS = 3;
  const impatient = {
    ...database,
    withSession: (...[use]: Parameters<typeof database.withSession>) =>
      database.withSession(async (session, destroy) => {
        await session.run(
          `SET SESSION wait_timeout = 90 /*M!100300 , idle_transaction_timeout = ${silentS} */`,
        );
        return use(session, destroy);
      }),
  } as typeof database;
  try {
    await rebuildSnapshot(impatient, activity.id, async ({ holds }) => {
      expect(new Set(holds.map(({ orderId }) => orderId)).size).toBe(5_100);
      await waitUntil(
        async () => {
          const [row] = await current.query(
            `SELECT MAX(TIMESTAMPDIFF(SECOND, t.trx_started, SYSDATE())) AS s FROM information_schema.innodb_trx t
             JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id WHERE p.db = DATABASE()`,
          );
          return Number(row?.s) > silentS + 2;
        },
        { what: 'the load to be slow', everyMs: innodbLookMs },
      );
      return 'run-slow';
    });
    expect((await repository.readActivity(activity.id))?.stockRunId).toBe('run-slow');
  } finally {
    await database.close();
  }
}, 30_000);
