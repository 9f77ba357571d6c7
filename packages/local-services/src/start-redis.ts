import { findOnPath } from './find-on-path.ts';
import { freePort } from './free-port.ts';
import { createLocalService, type LocalService, startUntil } from './local-service.ts';
import { prepareFolder } from './prepare-folder.ts';
import { exchange } from './probe.ts';
import { programMissing } from './program-missing.ts';

export interface RedisOptions {
  /** Data, log and `processes.json`; for this service alone. */
  readonly dir: string;
  /** Preferred; the next free one when it is taken. Any free one by default. */
  readonly port?: number;
  /** Test files take a database each. */
  readonly databases?: number;
  /** Further arguments of redis-server, which win over the ones set here. */
  readonly args?: readonly string[];
  /** Cuts the start short: what runs by then is stopped, and the start rejects. */
  readonly signal?: AbortSignal;
  readonly log: (line: string) => void;
}

export interface RedisService extends LocalService {
  readonly url: string;
}

/**
 * A private redis-server on the loopback with an append-only file: a killed one comes back with its data, but for what it was
 * told in the last two seconds while the disk was busy.
 */
export async function startRedis(options: RedisOptions): Promise<RedisService> {
  const command = findOnPath(['redis-server', 'valkey-server']);
  if (command === undefined) throw programMissing('redis');
  const dir = await prepareFolder(options.dir, options.log);
  const port = await freePort(options.port, options.log);
  const service = createLocalService({
    name: 'Redis',
    ports: { redis: port },
    programs: [
      {
        name: 'redis',
        command,
        args: [...redisArgs(dir, port, options.databases ?? 16), ...(options.args ?? [])],
        dir,
        ports: [port],
        ready: () => isRedisReady(port),
        readyTimeoutMs: 30_000,
        stopGraceMs: 20_000,
      },
    ],
  });
  await startUntil(service, options.signal);
  return Object.assign(service, { url: `redis://127.0.0.1:${port}` });
}

export function redisArgs(dir: string, port: number, databases: number): string[] {
  return [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--databases', String(databases)],
    // In the kernel's hands before its answer, but while the disk is busy: then up to two seconds later.
    ...['--appendonly', 'yes', '--save', '', '--daemonize', 'no'],
  ];
}

/** A server that still loads its file answers -LOADING, which is not ready. */
export async function isRedisReady(port: number): Promise<boolean> {
  const answer = await exchange(port, 'PING\r\n', (bytes) => bytes.includes('\r\n'));
  return answer?.toString('latin1').startsWith('+PONG') ?? false;
}
