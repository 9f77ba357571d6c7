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
  /** Of the servers whose clients must all be gone after the tests. */
  readonly ports: Readonly<Record<'MySQL' | 'Redis', number>>;
  kill(): void;
}

/** One Redis database for each test file that runs at once, with room to spare. */
const redisDatabases = 4_096;

/**
 * Private instances for one test run alone, with fresh data, on any free ports: never those of
 * `npm start`, nor of the machine. Nothing is restarted: a service that dies must be seen.
 */
export async function openTestServices(
  print: Printer,
  keep: boolean,
  signal: AbortSignal,
): Promise<TestServices> {
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
      wanted: serviceNames,
      print,
      redisDatabases,
      restart: false,
      signal,
    });
    const { mysqlUrl = '', redisUrl = '', rocketmqEndpoints = '', rocketmqNamesrv = '' } = local;
    return {
      env: {
        LAPSE_TEST_MYSQL_URL: mysqlUrl,
        LAPSE_TEST_REDIS_URL: redisUrl,
        LAPSE_TEST_ROCKETMQ_ENDPOINTS: rocketmqEndpoints,
        LAPSE_TEST_ROCKETMQ_NAMESRV: rocketmqNamesrv,
      },
      ports: { MySQL: Number(new URL(mysqlUrl).port), Redis: Number(new URL(redisUrl).port) },
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
