import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestRedis, testRocketmq, testVariable } from '@lapse/testing';
import type { Figures, Outcome } from '../src/result.ts';
import type { RunOptions } from '../src/scenario.ts';
import { readServices } from '../src/services.ts';

export interface TestBench {
  /** What a run of this size gets; each has a folder of its own. */
  readonly options: (name: string, size: number) => RunOptions;
  readonly close: () => Promise<void>;
}

/** The services of the tests, and a Redis database of this file alone. */
export async function openTestBench(): Promise<TestBench> {
  const redis = await createTestRedis();
  const { endpoints, namesrv } = testRocketmq();
  const services = await readServices({
    LAPSE_MYSQL_URL: testVariable('LAPSE_TEST_MYSQL_URL'),
    LAPSE_REDIS_URL: redis.url,
    LAPSE_ROCKETMQ_ENDPOINTS: endpoints,
    LAPSE_ROCKETMQ_NAMESRV: namesrv,
    LAPSE_BENCH_DIR: mkdtempSync(join(tmpdir(), 'lapse-bench-')),
  });
  const { signal } = new AbortController();
  return {
    options: (name, size) => ({ services, dir: join(services.dir, name), size, signal }),
    close: async () => {
      await services.peers.close();
      await redis.close();
      rmSync(services.dir, { recursive: true });
    },
  };
}

/** @throws {Error} with the reasons when there are none. */
export function figuresOf(outcome: Outcome): Figures {
  if (outcome.kind !== 'measured') throw new Error(JSON.stringify(outcome));
  return outcome.figures;
}

export function named<T extends { readonly name: string }>(all: readonly T[], name: string): T {
  const found = all.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
}
