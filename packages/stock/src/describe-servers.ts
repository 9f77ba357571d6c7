import type { Redis } from 'ioredis';
import type { RedisClient } from './redis-client.ts';

/** A Redis server that holds stock: the only one, or one owner of slots in a cluster. */
export interface StockServer {
  readonly address: string;
  readonly version: string;
  readonly runId: string;
  readonly role: string;
  /** Must be `noeviction`: with any other policy Redis throws stock away when its memory is full. */
  readonly evictionPolicy: string;
  /** It writes an append-only file. Without one a restart loses the stock, and it is loaded from MySQL. */
  readonly appendOnly: boolean;
  /** The last save to disk that failed makes Redis refuse writes. */
  readonly lastSaveFailed: boolean;
  /** Replicas that keep up, where Redis is told to take no writes with too few of them; null where it is not. */
  readonly replicasInStep: number | null;
  readonly usedBytes: number;
  /** 0: as much as the machine has. */
  readonly bytesMax: number;
}

/** Describe every server that stock may be on. Needs INFO alone: CONFIG is often forbidden. */
export function describeServers(client: RedisClient): Promise<StockServer[]> {
  return client.askEach('describe itself', async ({ redis }) => {
    const info = parseInfo(await redis.info());
    const replicasInStep = info.get('min_slaves_good_slaves');
    return {
      address: addressOf(redis),
      version: info.get('redis_version') ?? 'unknown',
      runId: info.get('run_id') ?? '',
      role: info.get('role') ?? 'unknown',
      evictionPolicy: info.get('maxmemory_policy') ?? 'unknown',
      appendOnly: info.get('aof_enabled') === '1',
      lastSaveFailed:
        info.get('rdb_last_bgsave_status') === 'err' || info.get('aof_last_write_status') === 'err',
      replicasInStep: replicasInStep === undefined ? null : Number(replicasInStep),
      usedBytes: Number(info.get('used_memory') ?? 0),
      bytesMax: Number(info.get('maxmemory') ?? 0),
    };
  });
}

/** Behind sentinels the options name none: then whom the connection reached. */
function addressOf({ options, stream }: Redis): string {
  return options.sentinels
    ? `${stream.remoteAddress}:${stream.remotePort}`
    : `${options.host}:${options.port}`;
}

function parseInfo(text: string): Map<string, string> {
  const pairs = text.split(/\r?\n/).flatMap((line): [string, string][] => {
    const at = line.indexOf(':');
    return at > 0 && !line.startsWith('#') ? [[line.slice(0, at), line.slice(at + 1)]] : [];
  });
  return new Map(pairs);
}
