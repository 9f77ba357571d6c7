import { execFile } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { findOnPath } from '../src/find-on-path.ts';
import { type MariadbService, startMariadb } from '../src/index.ts';
import { identifyProcess } from '../src/process-identity.ts';
import { runProgram } from './run-program.ts';
import { testFolder } from './test-folder.ts';

const run = promisify(execFile);
const log = () => {};
const nobody = 65_534;

async function start(dir: string): Promise<MariadbService> {
  const mariadb = await startMariadb({ dir, database: 'lapse', log });
  onTestFinished(() => mariadb.stop());
  return mariadb;
}

async function query(mariadb: MariadbService, sql: string): Promise<string> {
  const client = findOnPath(['mariadb', 'mysql']) ?? 'mariadb';
  const address = ['--host=127.0.0.1', `--port=${mariadb.ports.mysql}`, '--user=root'];
  const { stdout } = await run(client, ['--no-defaults', ...address, '--batch', '-N', '-e', sql, 'lapse']);
  return stdout.trim();
}

test('a killed database comes back on the same port with every committed row', async () => {
  const mariadb = await start(testFolder());
  expect(mariadb.url).toBe(`mysql://root@127.0.0.1:${mariadb.ports.mysql}/lapse`);
  expect(await query(mariadb, 'SELECT @@innodb_flush_log_at_trx_commit, @@bind_address')).toBe(
    '1\t127.0.0.1',
  );
  await query(mariadb, 'CREATE TABLE seat (id INT PRIMARY KEY) ENGINE=InnoDB; INSERT INTO seat VALUES (42)');

  mariadb.kill('SIGKILL');
  await mariadb.restart();
  expect(await query(mariadb, 'SELECT id FROM seat')).toBe('42');

  const [pid = 0] = mariadb.pids;
  await mariadb.stop();
  expect(identifyProcess(pid)).toBeUndefined();
});

test('a database folder that was cut off while it was made is made anew', async () => {
  const dir = testFolder();
  // What an interrupted run leaves: the temporary folder, half filled.
  mkdirSync(join(dir, 'data.new', 'mysql'), { recursive: true });
  const mariadb = await start(dir);
  expect(await query(mariadb, 'SELECT 1')).toBe('1');
});

test('a database that is made and started leaves the temporary tables of others alone', async () => {
  // A server removes every temporary table in its folder when it starts: another one, in the middle of its
  // own first steps, then fails with "Unknown table".
  const anothers = join(tmpdir(), `#sql-temptable-${process.pid}-another.MAI`);
  writeFileSync(anothers, '');
  onTestFinished(() => rmSync(anothers, { force: true }));
  await start(testFolder());
  expect(existsSync(anothers)).toBe(true);
});

test.runIf(process.getuid?.() === 0)('Redis and MariaDB run as a normal user', async () => {
  const dir = join(testFolder(), 'data');
  // mkdtemp makes a folder for root alone.
  chownSync(join(dir, '..'), nobody, nobody);
  const program = runProgram(
    'start-as-user.ts',
    [dir],
    [
      ...['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--'],
      ...['env', `HOME=${dir}`, `TMPDIR=${join(dir, '..')}`],
    ],
  );
  const first = await program.nextLine();
  expect(JSON.parse(first ?? '{}')).toMatchObject({
    uid: nobody,
    mariadb: expect.stringContaining('/lapse'),
  });
  expect(await program.nextLine()).toBe('stopped');
  rmSync(dir, { recursive: true });
});
