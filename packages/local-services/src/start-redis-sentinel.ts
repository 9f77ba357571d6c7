import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findOnPath } from './find-on-path.ts';
import { freePortBlock } from './free-port.ts';
import { createLocalService, type LocalService, startUntil } from './local-service.ts';
import { LocalServiceError } from './local-service-error.ts';
import { prepareFolder } from './prepare-folder.ts';
import { exchange } from './probe.ts';
import { programMissing } from './program-missing.ts';
import type { ProgramPlan } from './program-plan.ts';
import { isRedisReady, redisArgs } from './start-redis.ts';

export interface RedisSentinelOptions {
  /** Data, logs, the sentinels' own files and `processes.json`; for this service alone. */
  readonly dir: string;
  /** How long a master says nothing until a sentinel takes it to be down, in milliseconds; 1 s by default. */
  readonly downAfterMs?: number;
  /** PEM files: then servers and sentinels speak TLS with each other, and `url` asks for it. */
  readonly tls?: { readonly caPath: string; readonly certPath: string; readonly keyPath: string };
  readonly signal?: AbortSignal;
  readonly log: (line: string) => void;
}

export interface RedisSentinelService extends LocalService {
  /** `redis-sentinel://host:port,host:port,host:port/lapse` */
  readonly url: string;
  /** `host:port` of each sentinel, in plain text. */
  readonly sentinels: readonly string[];
}

/** As the sentinels call it. */
const masterName = 'lapse';
const sentinelCount = 3;
/** Of the three: the usual majority. */
const quorum = 2;
const agreeTimeoutMs = 30_000;
const pollMs = 50;

interface Place {
  readonly command: string;
  readonly dir: string;
  readonly masterPort: number;
  readonly downAfterMs: number;
  readonly tls: RedisSentinelOptions['tls'];
}

/** Of TLS, counted from the plain port, which stays open for the probes. */
const tlsOffset = 1;

/**
 * A private master with a replica and three sentinels on the loopback, its programs `redis-1` (the master at first),
 * `redis-2` and `sentinel-1` to `-3`. Resolves once the sentinels know each other and the replica follows: from then on
 * the loss of the master is a failover.
 */
export async function startRedisSentinel(options: RedisSentinelOptions): Promise<RedisSentinelService> {
  const command = findOnPath(['redis-server', 'valkey-server']);
  if (command === undefined) throw programMissing('redis');
  const dir = await prepareFolder(options.dir, options.log);
  const { tls } = options;
  const port = () => freePortBlock(undefined, tls ? [0, tlsOffset] : [0], options.log);
  const [masterPort, replicaPort] = [await port(), await port()];
  const place: Place = { command, dir, masterPort, downAfterMs: options.downAfterMs ?? 1_000, tls };
  const sentinelPorts: number[] = [];
  for (let number = 1; number <= sentinelCount; number += 1) sentinelPorts.push(await port());
  const service = createLocalService({
    name: 'Redis with sentinels',
    ports: {
      ...{ 'redis-1': masterPort, 'redis-2': replicaPort },
      ...Object.fromEntries(sentinelPorts.map((one, index) => [`sentinel-${index + 1}`, one])),
    },
    programs: [
      planServer(place, 'redis-1', masterPort),
      planServer(place, 'redis-2', replicaPort),
      ...sentinelPorts.map((one, index) => planSentinel(place, `sentinel-${index + 1}`, one)),
    ],
  });
  await startUntil(service, options.signal);
  try {
    await untilAgreed(sentinelPorts);
  } catch (error) {
    await service.stop();
    throw error;
  }
  const addresses = (offset: number) => sentinelPorts.map((one) => `127.0.0.1:${one + offset}`);
  const [scheme, offset] = tls ? ['rediss', tlsOffset] : ['redis', 0];
  const url = `${scheme}-sentinel://${addresses(offset).join(',')}/${masterName}`;
  return Object.assign(service, { sentinels: addresses(0), url });
}

/** With a file of its own, in which Redis itself keeps whom it follows: after a failover that is another one. */
function planServer({ command, dir, masterPort, tls }: Place, name: string, port: number): ProgramPlan {
  const data = join(dir, name);
  const file = join(data, 'redis.conf');
  return {
    name,
    command,
    args: [file, ...redisArgs(data, port, 16)],
    dir,
    ports: tls ? [port, port + tlsOffset] : [port],
    prepare: () => {
      mkdirSync(data, { recursive: true });
      if (existsSync(file)) return;
      const lines = [
        // Otherwise a master gathers replicas for 5 s before it feeds the first one.
        'repl-diskless-sync-delay 0',
        ...tlsLines(tls, port),
        ...(port === masterPort ? [] : [`replicaof 127.0.0.1 ${peerPort(tls, masterPort)}`]),
      ];
      writeFileSync(file, `${lines.join('\n')}\n`);
    },
    ready: () => isRedisReady(port),
    readyTimeoutMs: 30_000,
    stopGraceMs: 20_000,
  };
}

/** A sentinel writes what it learns into its file, and goes on from there. */
function planSentinel(
  { command, dir, masterPort, downAfterMs, tls }: Place,
  name: string,
  port: number,
): ProgramPlan {
  const data = join(dir, name);
  const file = join(data, 'sentinel.conf');
  return {
    name,
    command,
    args: [file, '--sentinel'],
    dir,
    ports: tls ? [port, port + tlsOffset] : [port],
    prepare: () => {
      mkdirSync(data, { recursive: true });
      if (existsSync(file)) return;
      const lines = [
        ...[`port ${port}`, 'bind 127.0.0.1', `dir ${data}`, ...tlsLines(tls, port)],
        `sentinel monitor ${masterName} 127.0.0.1 ${peerPort(tls, masterPort)} ${quorum}`,
        `sentinel down-after-milliseconds ${masterName} ${downAfterMs}`,
        `sentinel failover-timeout ${masterName} ${10 * downAfterMs}`,
      ];
      writeFileSync(file, `${lines.join('\n')}\n`);
    },
    ready: () => isRedisReady(port),
    readyTimeoutMs: 30_000,
    stopGraceMs: 20_000,
  };
}

function tlsLines(tls: Place['tls'], port: number): string[] {
  if (tls === undefined) return [];
  return [
    ...[`tls-port ${port + tlsOffset}`, 'tls-replication yes', 'tls-auth-clients no'],
    ...[`tls-ca-cert-file ${tls.caPath}`, `tls-cert-file ${tls.certPath}`, `tls-key-file ${tls.keyPath}`],
  ];
}

/** By which servers and sentinels reach a server. */
function peerPort(tls: Place['tls'], port: number): number {
  return tls === undefined ? port : port + tlsOffset;
}

/** They find each other, and the replica, by what the master tells them: a second or two. */
async function untilAgreed(sentinelPorts: readonly number[]): Promise<void> {
  const deadline = Date.now() + agreeTimeoutMs;
  while (!(await Promise.all(sentinelPorts.map(isComplete))).every(Boolean)) {
    if (Date.now() >= deadline) {
      throw new LocalServiceError(
        'LAPSE_SERVICE_START_FAILED',
        `the sentinels did not find each other and the replica in ${agreeTimeoutMs} ms`,
      );
    }
    await sleep(pollMs);
  }
}

async function isComplete(port: number): Promise<boolean> {
  const answer = await exchange(port, 'INFO sentinel\r\n', (bytes) =>
    /,sentinels=\d+\r/.test(bytes.toString('latin1')),
  );
  const text = answer?.toString('latin1') ?? '';
  return text.includes(`slaves=1,sentinels=${sentinelCount}`) && text.includes('status=ok');
}
