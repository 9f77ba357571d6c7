import { createTestDatabase, queryDatabase, type TestDatabase } from '@lapse/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { migrate, openOrderRepository, readSchema } from '../src/index.ts';
import { allMigrations } from '../src/migrations/all-migrations.ts';
import { migrationOf } from '../src/migrations/migration.ts';
import { collectLog, createActivity, newOrder } from './fixture.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

const log = collectLog([]);
const names = allMigrations.map(({ name }) => name);

test('four processes that migrate an empty database at once: one works, and all succeed', async () => {
  const runs = await Promise.all([1, 2, 3, 4].map(() => migrate({ url: database.url }, log)));
  const applied = runs.map((run) => run.applied).filter((list) => list.length > 0);
  expect(applied).toEqual([names]);
});

test('on a filled database it changes nothing, whoever runs it', async () => {
  await migrate({ url: database.url }, log);
  const repository = await openOrderRepository({ url: database.url, poolMax: 2, queryTimeoutMs: 5_000 }, log);
  try {
    const activity = await createActivity(repository);
    const order = newOrder(activity);
    await repository.createOrders([order]);
    const runs = await Promise.all([1, 2, 3, 4].map(() => migrate({ url: database.url }, log)));
    expect(runs).toEqual(Array.from({ length: 4 }, () => ({ applied: [] })));
    expect((await repository.readOrder(order.id))?.id).toBe(order.id);
  } finally {
    await repository.close();
  }
});

test('a migration that died half way, its lock row left behind, goes on where it stopped', async () => {
  const step = migrationOf('9999-two-steps', [
    'CREATE TABLE IF NOT EXISTS first_step (id INT PRIMARY KEY)',
    'CREATE TABLE IF NOT EXISTS second_step (id INT PRIMARY KEY)',
  ]);
  const broken = migrationOf(step.name, [
    'CREATE TABLE IF NOT EXISTS first_step (id INT PRIMARY KEY)',
    'NO SQL',
  ]);
  await expect(migrate({ url: database.url }, log, [...allMigrations, broken])).rejects.toThrow(/SQL syntax/);
  await queryDatabase(database.url, 'UPDATE lapse_migration_lock SET is_locked = 1');
  expect(await migrate({ url: database.url }, log, [...allMigrations, step])).toEqual({
    applied: [step.name],
  });
  expect(await queryDatabase(database.url, 'SELECT * FROM second_step')).toEqual([]);
});

test('an older release starts beside a newer schema', async () => {
  await migrate({ url: database.url }, log, [...allMigrations, migrationOf('9999-newer', ['SELECT 1'])]);
  expect(await migrate({ url: database.url }, log)).toEqual({ applied: [] });
});

test('the state of the schema says what is applied, what is pending, and what a newer release applied', async () => {
  const config = { url: database.url, queryTimeoutMs: 5_000 };
  expect(await readSchema(config, log)).toEqual({ applied: [], pending: names, unknown: [] });
  // Nothing is made by asking.
  expect(await queryDatabase(database.url, 'SHOW TABLES')).toEqual([]);
  await migrate(config, log, [...allMigrations, migrationOf('9999-newer', ['SELECT 1'])]);
  const state = await readSchema(config, log);
  expect(state).toMatchObject({ pending: [], unknown: ['9999-newer'] });
  expect(state.applied.map(({ name }) => name)).toEqual([...names, '9999-newer']);
});

test('sessions are in UTC, strict, and read committed, whatever the server is', async () => {
  await migrate({ url: database.url }, log);
  const repository = await openOrderRepository({ url: database.url, poolMax: 1, queryTimeoutMs: 5_000 }, log);
  try {
    const before = Date.now();
    const activity = await createActivity(repository, { saleStartsAt: '2026-02-03T04:05:06.789Z' });
    expect(activity.saleStartsAt?.toISOString()).toBe('2026-02-03T04:05:06.789Z');
    expect(Math.abs(activity.createdAt.getTime() - before)).toBeLessThan(5_000);
    const [row] = await queryDatabase(
      database.url,
      `SELECT TIMESTAMPDIFF(SECOND, created_at, UTC_TIMESTAMP(3)) AS age FROM activity WHERE id = ${activity.id}`,
    );
    expect(Number(row?.age)).toBeLessThan(5);
    expect(Math.abs(repository.now() - Date.now())).toBeLessThan(500);
  } finally {
    await repository.close();
  }
});
