import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '@lapse/testing';
import { Redis } from 'ioredis';

/** A Redis that the test may kill, freeze and start again on the same port and data. */
export interface PrivateRedis {
  readonly url: string;
  start(): Promise<void>;
  kill(signal: NodeJS.Signals): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  remove(): Promise<void>;
}

export async function createPrivateRedis(): Promise<PrivateRedis> {
  const dir = await mkdtemp(join(tmpdir(), 'lapse-stock-redis-'));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}/0`;
  let child: ChildProcess | undefined;
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  const privateRedis: PrivateRedis = {
    url,
    start: async () => {
      const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--appendonly', 'yes'];
      child = spawn('redis-server', [...args, '--save', ''], { stdio: 'ignore' });
      await waitUntil(() => answers(url), { what: `redis-server on port ${port}` });
    },
    kill,
    signal: (signal) => {
      child?.kill(signal);
    },
    remove: async () => {
      await kill('SIGKILL');
      await rm(dir, { recursive: true, force: true });
    },
  };
  await privateRedis.start();
  return privateRedis;
}

async function answers(url: string): Promise<boolean> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: null, maxRetriesPerRequest: 0 });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return (await redis.ping()) === 'PONG';
  } finally {
    redis.disconnect();
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No port was free.');
  return address.port;
}
