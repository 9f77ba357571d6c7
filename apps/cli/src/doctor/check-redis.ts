import type { Stock, StockServer } from '@lapse/stock';
import type { Check, CheckState } from './check.ts';

/** Of its memory, from which on an operator should know. */
const memoryShareMax = 0.9;
const oldestMajor = 6;

/** Every server that holds stock: version, role, eviction policy, persistence, memory. */
export async function checkRedis(stock: Pick<Stock, 'describeServers' | 'ping'>): Promise<Check[]> {
  const startedAt = performance.now();
  await stock.ping();
  const pingMs = (performance.now() - startedAt).toFixed(1);
  const servers = await stock.describeServers();
  const reachable: Check = {
    area: 'redis',
    check: 'reachable',
    state: 'ok',
    says: `answers in ${pingMs} ms`,
  };
  return [reachable, ...servers.flatMap((server) => checkServer(server, servers.length > 1))];
}

function checkServer(server: StockServer, isOneOfMany: boolean): Check[] {
  const { version, role, evictionPolicy, appendOnly, lastSaveFailed, usedBytes, bytesMax } = server;
  const major = Number.parseInt(version, 10);
  const isFull = bytesMax > 0 && usedBytes > bytesMax * memoryShareMax;
  const megabytes = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MB`;
  const checks: [string, CheckState, string, string][] = [
    ['version', major >= oldestMajor ? 'ok' : 'fail', version, `Redis ${oldestMajor} or newer`],
    ['role', role === 'master' ? 'ok' : 'fail', role, 'LAPSE_REDIS_URL must name the master'],
    [
      'eviction',
      evictionPolicy === 'noeviction' ? 'ok' : 'fail',
      `maxmemory-policy is ${evictionPolicy}`,
      'set it to noeviction: any other policy throws stock away when memory is full',
    ],
    [
      'persistence',
      appendOnly ? 'ok' : 'warn',
      appendOnly ? 'writes an append-only file' : 'writes no append-only file',
      'set appendonly yes: without it a restart loses the stock, and sales stop until it is loaded from MySQL',
    ],
    [
      'saves',
      lastSaveFailed ? 'fail' : 'ok',
      lastSaveFailed
        ? 'the last write to disk failed: Redis may refuse writes'
        : 'the last write to disk succeeded',
      'free its disk, or correct its permissions',
    ],
    [
      'memory',
      isFull ? 'warn' : 'ok',
      bytesMax === 0
        ? `${megabytes(usedBytes)}, no limit`
        : `${megabytes(usedBytes)} of ${megabytes(bytesMax)}`,
      'raise maxmemory: when it is full Redis refuses new holds',
    ],
  ];
  return checks.map(([check, state, says, fix]) => ({
    ...({
      area: 'redis',
      check: isOneOfMany ? `${check} of ${server.address}` : check,
      state,
      says,
    } as const),
    ...(state === 'ok' ? {} : { fix }),
  }));
}
