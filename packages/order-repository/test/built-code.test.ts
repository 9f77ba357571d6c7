import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createTestDatabase, queryDatabase } from '@lapse/testing';
import { expect, test } from 'vitest';
import { allMigrations } from '../src/migrations/all-migrations.ts';

const packageFolder = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);

/** What a process in production does: plain Node, the compiled package. */
const program = `
  import { migrate, openOrderRepository } from '@lapse/order-repository';
  const url = process.argv[1];
  const log = { info() {}, warn() {}, error() {} };
  const { applied } = await migrate({ url }, log);
  const repository = await openOrderRepository({ url, poolMax: 2, queryTimeoutMs: 5000 }, log);
  const activities = await repository.listActivities({ afterId: 0, limit: 10 });
  await repository.close();
  console.log(JSON.stringify({ applied, activities }));
`;

test('the compiled package runs under plain Node: the same migrations, and it ends by itself', async () => {
  const database = await createTestDatabase();
  try {
    await run('node_modules/.bin/tsc', ['-b'], { cwd: packageFolder });
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program, database.url], {
      cwd: packageFolder,
      timeout: 20_000,
    });
    expect(JSON.parse(stdout)).toEqual({ applied: allMigrations.map(({ name }) => name), activities: [] });
    const journal = await queryDatabase(database.url, 'SELECT name FROM lapse_migration ORDER BY id');
    expect(journal.map(({ name }) => name)).toEqual(allMigrations.map(({ name }) => name));
  } finally {
    await database.drop();
  }
}, 120_000);
