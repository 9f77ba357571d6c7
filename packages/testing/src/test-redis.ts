import { Redis } from 'ioredis';
import { testVariable } from './test-environment.ts';
import { waitUntil } from './wait-until.ts';

export interface TestRedis {
  /** Address with the number of a database that belongs to this test file alone. */
  readonly url: string;
  readonly flush: () => Promise<void>;
  /** One command on a connection of its own, to read or to damage what the product wrote. */
  readonly command: (name: string, ...args: (string | number)[]) => Promise<unknown>;
  /**
   * Empty the database and leave it. Call it last, when everything that used it is closed.
   * @throws {Error} naming the clients still connected to it after a short wait: the file leaks them.
   */
  readonly close: () => Promise<void>;
}

/** In database 0, which holds nothing else: the number of the database given out last. */
const counterKey = 'lapse:test:databases-given';
/** How long closed connections may take to leave the server's list. */
const leakWaitMs = 2_000;

/** An empty Redis database of its own for one test file, on the server of LAPSE_TEST_REDIS_URL. */
export async function createTestRedis(): Promise<TestRedis> {
  const serverUrl = testVariable('LAPSE_TEST_REDIS_URL');
  const database = await takeDatabase(serverUrl);
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  await withRedis(url.href, (redis) => redis.flushdb());
  return { ...redisAt(url.href), close: () => closeDatabase(url.href, database) };
}

/** The same on a server that the test started for itself; `close` leaves it as it is. */
export function redisAt(url: string): TestRedis {
  return {
    url,
    flush: async () => {
      await withRedis(url, (redis) => redis.flushdb());
    },
    command: (name, ...args) => withRedis(url, (redis) => redis.call(name, ...args)),
    close: async () => undefined,
  };
}

/** The next number in turn that nobody is connected to; database 0 stays the counter's. */
async function takeDatabase(serverUrl: string): Promise<number> {
  return await withRedis(serverUrl, async (redis) => {
    const databases = await countDatabases(redis);
    for (let tries = 0; tries < databases; tries += 1) {
      const database = ((await redis.incr(counterKey)) % (databases - 1)) + 1;
      if ((await listClients(redis, database)).length === 0) return database;
    }
    throw new Error(`All ${databases - 1} Redis databases for tests are in use.`);
  });
}

async function countDatabases(redis: Redis): Promise<number> {
  const answer = await redis.config('GET', 'databases');
  // An array in RESP2, a map in RESP3: take the one number in it either way.
  const databases = Number(JSON.stringify(answer).match(/\d+/)?.[0]);
  if (!(databases > 1)) throw new Error('The Redis of the tests needs more than one database.');
  return databases;
}

async function closeDatabase(url: string, database: number): Promise<void> {
  await withRedis(url, async (redis) => {
    const leaked = await findLeakedClients(redis, database);
    await redis.flushdb();
    if (leaked.length === 0) return;
    throw new Error(
      `${leaked.length} client(s) of Redis database ${database} were left open:\n  ${leaked.join('\n  ')}`,
    );
  });
}

async function findLeakedClients(redis: Redis, database: number): Promise<string[]> {
  let found: string[] = [];
  try {
    await waitUntil(
      async () => {
        found = await listClients(redis, database);
        return found.length === 0;
      },
      { what: `clients of Redis database ${database} to close`, timeoutMs: leakWaitMs },
    );
  } catch (error) {
    // Only an answered list is a leak; a server that does not answer is an error of its own.
    if (found.length === 0) throw error;
  }
  return found;
}

/** One line for each client connected to this database, other than the asking one. */
async function listClients(redis: Redis, database: number): Promise<string[]> {
  const ownId = await redis.client('ID');
  const list = String(await redis.client('LIST'));
  return list
    .split('\n')
    .filter((line) => line.includes(` db=${database} `) && !line.startsWith(`id=${ownId} `))
    .map(
      (line) => line.match(/^id=\d+ addr=\S+/)?.[0].concat(` ${line.match(/cmd=\S+/)?.[0] ?? ''}`) ?? line,
    );
}

async function withRedis<T>(url: string, use: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { maxRetriesPerRequest: 1, connectTimeout: 5_000 });
  // Failures reach the caller through the command; without a listener they would also be printed.
  redis.on('error', () => undefined);
  try {
    return await use(redis);
  } finally {
    redis.disconnect();
  }
}
