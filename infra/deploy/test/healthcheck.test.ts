import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { rootDir } from '@lapse/stack';
import { afterEach, describe, expect, test } from 'vitest';
import { runCommand } from '../src/run-command.ts';

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function serve(status: number): Promise<number> {
  server = createServer((request, response) => {
    response.writeHead(request.url === '/healthz' ? status : 404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function check(port: number): Promise<string> {
  return runCommand(
    'LAPSE_DEPLOY_COMMAND',
    process.execPath,
    [join(rootDir, 'infra/docker/healthcheck.mjs')],
    {
      ...{ cwd: rootDir, env: { LAPSE_OPS_PORT: String(port) }, signal: new AbortController().signal },
    },
  );
}

describe('the HEALTHCHECK of the images', () => {
  test('is content with a process that answers', async () => {
    await expect(check(await serve(200))).resolves.toBe('');
  });
  test('fails on one that does not', async () => {
    await expect(check(await serve(500))).rejects.toThrow();
    server?.close();
    await expect(check(9)).rejects.toThrow();
  });
});
