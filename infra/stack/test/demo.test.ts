import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const demo = fileURLToPath(new URL('../dist/demo.js', import.meta.url));

test('a demo that cannot run says why and exits with code 1', async () => {
  const child = spawn(process.execPath, [demo, '--services=podman'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  const [code] = await once(child, 'close');
  expect(output).toContain('external, local, compose');
  expect(code).toBe(1);
});
