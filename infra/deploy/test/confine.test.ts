import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { confinedEnv, makeEmptyFolder, readOnlyArgs } from '../src/confine.ts';
import { runCommand } from '../src/run-command.ts';

let dir: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'lapse-confine-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function write(file: string, writable: readonly string[]): Promise<string> {
  const program = `require('node:fs').writeFileSync(${JSON.stringify(file)}, ''); process.stdout.write('written')`;
  return runCommand('LAPSE_DEPLOY_START', process.execPath, [...readOnlyArgs(writable), '-e', program], {
    ...{ cwd: dir, env: confinedEnv({}), signal: new AbortController().signal },
  });
}

describe('what an image runs on a read-only file system is found out here', () => {
  test('a write outside of the writable folders is refused', async () => {
    await expect(write(join(dir, 'file'), [])).rejects.toThrow('ERR_ACCESS_DENIED');
  });
  test('a write into a writable folder is not', async () => {
    await expect(write(join(dir, 'file'), [dir])).resolves.toBe('written');
  });
  test('nothing of this environment but PATH is seen', async () => {
    const seen = await runCommand(
      'LAPSE_DEPLOY_START',
      process.execPath,
      ['-p', 'Object.keys(process.env).join()'],
      {
        ...{ cwd: makeEmptyFolder(dir), env: confinedEnv({ LAPSE_OPS_PORT: '0' }) },
        signal: new AbortController().signal,
      },
    );
    expect(seen.trim().split(',').sort()).toEqual(['HOME', 'LAPSE_OPS_PORT', 'NODE_ENV', 'PATH', 'TMPDIR']);
  });
});
