import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { lockFolder, reapLeftovers } from '@lapse/local-services';
import type { Closable } from '@lapse/runtime';
import { serviceNames } from './choose-services.ts';
import { rootDir } from './folders.ts';
import { openLocal } from './local.ts';
import type { Printer } from './print.ts';
import { installPrograms } from './services.ts';

export interface TestServices extends Closable {
  /** What the tests read to find them: LAPSE_TEST_*. */
  readonly env: Readonly<Record<string, string>>;
  /** Of the private servers whose clients must all be gone after the tests: of one that is given, others may be clients. */
  readonly ports: Readonly<Record<string, number>>;
  kill(): void;
}

/** One Redis database for each test file that runs at once, with room to spare. */
const redisDatabases = 4_096;

/**
 * Private instances for one test run alone, with fresh data, on any free ports: never those of
 * `npm start`, nor of the machine. Nothing is restarted: a service that dies must be seen.
 * MySQL and Redis that LAPSE_TEST_MYSQL_URL and LAPSE_TEST_REDIS_URL name are used in their place, so that CI can
 * try others; tests that kill a server start their own all the same.
 */
export async function openTestServices(
  print: Printer,
  keep: boolean,
  signal: AbortSignal,
  env: NodeJS.ProcessEnv = process.env,
): Promise<TestServices> {
  const given = { mysql: env.LAPSE_TEST_MYSQL_URL, redis: env.LAPSE_TEST_REDIS_URL, rocketmq: undefined };
  const wanted = serviceNames.filter((name) => !given[name]);
  const dir = join(rootDir, '.lapse-test');
  const lock = lockFolder(dir);
  const wipe = (): void => rmSync(dir, { recursive: true, force: true });
  try {
    await reapLeftovers(dir, { log: print.warn });
    for (const name of serviceNames) rmSync(join(dir, name), { recursive: true, force: true });
    // The tests of the page are done in a real browser.
    await installPrograms(serviceNames, process.env, print, ['chromium']);
    const local = await openLocal({
      dir,
      wanted,
      print,
      redisDatabases,
      restart: false,
      signal,
    });
    const { rocketmqEndpoints = '', rocketmqNamesrv = '' } = local;
    const mysqlUrl = given.mysql || (local.mysqlUrl ?? '');
    const redisUrl = given.redis || (local.redisUrl ?? '');
    return {
      env: {
        LAPSE_TEST_MYSQL_URL: mysqlUrl,
        LAPSE_TEST_REDIS_URL: redisUrl,
        LAPSE_TEST_ROCKETMQ_ENDPOINTS: rocketmqEndpoints,
        LAPSE_TEST_ROCKETMQ_NAMESRV: rocketmqNamesrv,
      },
      ports: {
        ...(!given.mysql && { MySQL: Number(new URL(mysqlUrl).port) }),
        ...(!given.redis && { Redis: Number(new URL(redisUrl).port) }),
      },
      kill: local.kill,
      close: async () => {
        // The data is thrown away, so nothing is worth the 10 s that a broker takes to stop well.
        local.kill();
        await local.close();
        lock.release();
        if (!keep) wipe();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}
