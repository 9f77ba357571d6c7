import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lockFolder } from '../src/lock-folder.ts';
import { runProgram } from './run-program.ts';
import { testFolder } from './test-folder.ts';

test('a second start on a folder is refused and told who holds it', async () => {
  const dir = testFolder();
  const holder = runProgram('hold-lock.ts', [dir]);
  expect(await holder.nextLine()).toBe('locked');
  expect(() => lockFolder(dir)).toThrow(
    new RegExp(`LAPSE_FOLDER_LOCKED: .*is in use by process ${holder.child.pid} \\(.*hold-lock`),
  );
});

test('the lock of a process that was killed is taken over', async () => {
  const dir = testFolder();
  const holder = runProgram('hold-lock.ts', [dir]);
  expect(await holder.nextLine()).toBe('locked');
  await holder.killHard();
  const lock = lockFolder(dir);
  expect(() => lockFolder(dir)).toThrow(`process ${process.pid}`);
  lock.release();
  expect(existsSync(join(dir, 'lock.json'))).toBe(false);
});

test('a lock whose number belongs to another process by now is taken over', () => {
  const dir = testFolder();
  writeFileSync(join(dir, 'lock.json'), JSON.stringify({ pid: process.pid, startedAt: 'another time' }));
  lockFolder(dir).release();
});

test('a damaged lock is taken over', () => {
  const dir = testFolder();
  writeFileSync(join(dir, 'lock.json'), '{');
  lockFolder(dir).release();
});

test('of many processes that find a stale lock at once, exactly one gets it', async () => {
  const dir = testFolder();
  writeFileSync(join(dir, 'lock.json'), JSON.stringify({ pid: process.pid, startedAt: 'another time' }));
  const contenders = Array.from({ length: 4 }, () => runProgram('hold-lock.ts', [dir]));
  const lines = await Promise.all(contenders.map((contender) => contender.nextLine()));
  const refused = 'LAPSE_FOLDER_LOCKED';
  expect(lines.toSorted()).toEqual([refused, refused, refused, 'locked']);
});
