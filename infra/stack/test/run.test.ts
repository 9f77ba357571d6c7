import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { rootDir } from '../src/folders.ts';

/** Neither installs nor compiles anything: both would take seconds, and say so. */
function runSh(...args: string[]): Promise<{ code: unknown; output: string }> {
  return new Promise((resolve) => {
    execFile('sh', [join(rootDir, 'infra', 'run.sh'), ...args], (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, output: stdout + stderr });
    });
  });
}

test.each(['--help', '-h'])('%s of a command is its help and nothing else', async (option) => {
  const { code, output } = await runSh('demo', '--real-time', option);
  expect([code, output.trim().split('\n')[0]]).toEqual([0, 'npm run demo -- [options]']);
  expect(output).not.toMatch(/packages installed|compiled/);
});

test('a command that is not there is told of, and fails', async () => {
  const { code, output } = await runSh('strat');
  expect([code, output]).toEqual([1, expect.stringContaining('unknown command "strat": one of start,')]);
});

test('in a pipe a step is said before it runs: a silent log looks like one that hangs', async () => {
  const steps = pathToFileURL(join(rootDir, 'infra', 'steps.mjs')).href;
  const script = `import { step } from '${steps}'; await step('compile', 'compiled', async () => console.log('runs'));`;
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, ['--input-type=module', '-e', script], (_error, stdout) => resolve(stdout));
  });
  expect(output).toMatch(/^compile …\nruns\ncompiled: \d+\.\d s\n$/);
});
