import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** Whether a process has Node's HTTP client in memory once it has imported this. */
function loadsHttpClient(what: string): boolean {
  const script = `await import(${JSON.stringify(what)});
    console.log(process.moduleLoadList.some((name) => name.includes('undici')));`;
  const args = ['--conditions=@lapse/source', '--no-warnings', '--input-type=module', '--eval', script];
  return execFileSync(process.execPath, args, { encoding: 'utf8' }).trim() === 'true';
}

test('a process that serves HTTP does not load the HTTP client: it takes 6 MB; negative control: a plain import does', () => {
  const runtime = new URL('../src/index.ts', import.meta.url).href;
  expect([loadsHttpClient(runtime), loadsHttpClient('node:http')]).toEqual([false, true]);
});
