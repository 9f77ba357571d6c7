import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '@lapse/testing';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { findPostgres } from '../src/find-postgres.ts';
import { openPostgresStore } from '../src/open-postgres-store.ts';
import { startPostgres } from '../src/private-postgres.ts';

const bin = findPostgres();

test.skipIf(bin === undefined)(
  'a connection that the server ends while nobody uses it ends nothing here, and who asks next gets another',
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'lapse-postgres-'));
    const postgres = await startPostgres(bin ?? '', join(dir, 'postgres'));
    onTestFinished(async () => {
      await postgres.close();
      rmSync(dir, { recursive: true, force: true });
    });
    const store = await openPostgresStore(postgres.url, 'lapse_test');
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    const { rows } = await client.query(
      "SELECT pg_terminate_backend(pid) AS gone FROM pg_stat_activity WHERE datname = 'lapse_test'",
    );
    await client.end();
    expect(rows).toEqual([{ gone: true }]);
    // Asked at once it may still have the one that is going.
    await waitUntil(async () => (await store.countFree()) === 0, { what: 'another connection' });
    await store.close();
  },
  60_000,
);
