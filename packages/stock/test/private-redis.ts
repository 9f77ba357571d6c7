import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedis } from '@lapse/local-services';
import { waitUntil } from '@lapse/testing';

/**
 * Written before it is answered. Told to write every second, Redis puts a write off for up to two while the disk is busy, and
 * one that is killed then comes back as it was before: the product expects that, a count of what was kept cannot.
 */
const writeAtOnce = ['--appendfsync', 'always'] as const;

/** A Redis that the test may kill, freeze and start again on the same port and data. */
export interface PrivateRedis {
  readonly url: string;
  /** Where its files are. */
  readonly dir: string;
  start(): Promise<void>;
  /** SIGKILL; resolves once it is gone. */
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
  remove(): Promise<void>;
}

export async function createPrivateRedis({
  args = [],
}: {
  readonly args?: readonly string[];
} = {}): Promise<PrivateRedis> {
  const dir = await mkdtemp(join(tmpdir(), 'lapse-stock-redis-'));
  const service = await startRedis({ dir, log: () => undefined, args: [...writeAtOnce, ...args] });
  return {
    url: service.url,
    dir,
    start: () => service.start(),
    kill: async () => {
      service.kill('SIGKILL');
      await waitUntil(() => service.pids.length === 0, { what: 'a killed Redis to be gone' });
    },
    freeze: () => service.kill('SIGSTOP'),
    thaw: () => service.kill('SIGCONT'),
    remove: async () => {
      await service.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
