import type { Stock, StockServer } from '@lapse/stock';
import type { Check, CheckState } from './check.ts';
import { redisFixes } from './redis-fixes.ts';

/** Of its memory, from which on an operator should know. */
const memoryShareMax = 0.9;

/** What is looked at, how it is, what is there, and what mends it. */
type Row = readonly [check: string, state: CheckState, says: string, fix: string];

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
  const { version, role, evictionPolicy, appendOnly, lastSaveFailed } = server;
  const { replicasInStep, usedBytes, bytesMax } = server;
  const megabytes = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MB`;
  const checks: Row[] = [
    versionCheck(version),
    ['role', role === 'master' ? 'ok' : 'fail', role, redisFixes.master],
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
      redisFixes.disk,
    ],
    [
      'replicas',
      replicasInStep === 0 ? 'fail' : 'ok',
      replicasInStep === null ? 'needs none to take writes' : `${replicasInStep} keep up`,
      redisFixes.replicas,
    ],
    [
      'memory',
      memoryState(server),
      bytesMax === 0
        ? `${megabytes(usedBytes)}, no limit`
        : `${megabytes(usedBytes)} of ${megabytes(bytesMax)}`,
      redisFixes.memory,
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

/** SMISMEMBER, which every reserve needs. */
function versionCheck(version: string): Row {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  const isNew = major > 6 || (major === 6 && minor >= 2);
  return ['version', isNew ? 'ok' : 'fail', version, 'Redis 6.2 or newer'];
}

function memoryState({ usedBytes, bytesMax }: StockServer): CheckState {
  const share = bytesMax === 0 ? 0 : usedBytes / bytesMax;
  if (share >= 1) return 'fail';
  return share > memoryShareMax ? 'warn' : 'ok';
}
