import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { giveWay } from '../src/give-way.ts';

test('a program that gives way does so in the sight of every session, not of its own alone', async () => {
  const child = spawn('cat', { detached: true });
  onTestFinished(() => void child.kill());
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  const group = `/proc/${pid}/autogroup`;
  expect(getPriority(pid)).toBe(0);

  giveWay(pid);

  expect(getPriority(pid)).toBe(10);
  // Without such groups (macOS, a container's kernel) its own priority is all there is.
  if (existsSync(group)) expect(readFileSync(group, 'utf8')).toMatch(/ nice 10$/m);
});
