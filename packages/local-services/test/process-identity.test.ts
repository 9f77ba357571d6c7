import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { commandOf } from '../src/process-identity.ts';

test('a process is named without the folder of its program, so that its arguments can be read', async () => {
  const child = spawn(process.execPath, ['-', '/its/argument'], { stdio: ['pipe', 'ignore', 'ignore'] });
  onTestFinished(() => void child.kill());
  await once(child, 'spawn');
  expect(process.execPath).toContain('/');
  expect(commandOf(child.pid ?? 0)).toBe(`${basename(process.execPath)} - /its/argument`);
});
