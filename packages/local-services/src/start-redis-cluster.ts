import { mkdirSync } from 'node:fs';
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

export interface RedisClusterOptions {
  /** Data, logs and `processes.json`; for this cluster alone. */
  readonly dir: string;
  /** Masters, each with its share of the slots; a cluster needs three. */
  readonly nodes?: number;
  readonly signal?: AbortSignal;
  readonly log: (line: string) => void;
}

export interface RedisClusterService extends LocalService {
  /** `redis-cluster://host:port,host:port,…` */
  readonly url: string;
}

interface Node {
  readonly name: string;
  readonly port: number;
  readonly busPort: number;
}

const slots = 16_384;
const formTimeoutMs = 30_000;
const pollMs = 50;

/**
 * A private Redis Cluster of masters on the loopback, its programs `redis-1`, `redis-2`, …: kill one by its name, and
 * `start()` brings it back with its data and its slots. It has no replicas: a slot whose node is away is away.
 */
export async function startRedisCluster(options: RedisClusterOptions): Promise<RedisClusterService> {
  const command = findOnPath(['redis-server', 'valkey-server']);
  if (command === undefined) throw programMissing('redis');
  const dir = await prepareFolder(options.dir, options.log);
  const nodes: Node[] = [];
  for (let number = 1; number <= (options.nodes ?? 3); number += 1) {
    const port = await freePortBlock(undefined, [0, 1], options.log);
    nodes.push({ name: `redis-${number}`, port, busPort: port + 1 });
  }
  const service = createLocalService({
    name: 'Redis Cluster',
    ports: Object.fromEntries(nodes.map(({ name, port }) => [name, port])),
    programs: nodes.map((node) => planNode(command, dir, node)),
  });
  await startUntil(service, options.signal);
  try {
    await formCluster(nodes);
  } catch (error) {
    await service.stop();
    throw error;
  }
  const list = nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return Object.assign(service, { url: `redis-cluster://${list}` });
}

function planNode(command: string, dir: string, { name, port, busPort }: Node): ProgramPlan {
  const data = join(dir, name);
  mkdirSync(data, { recursive: true });
  return {
    name,
    command,
    args: [
      ...redisArgs(data, port, 1),
      ...['--cluster-enabled', 'yes', '--cluster-port', String(busPort)],
      // A node that is away takes its own slots along and no others.
      ...['--cluster-require-full-coverage', 'no'],
    ],
    dir,
    ports: [port, busPort],
    ready: () => isRedisReady(port),
    readyTimeoutMs: 30_000,
    stopGraceMs: 20_000,
  };
}

/** Give each node its slots and let them meet; resolves once every one of them serves. */
async function formCluster(nodes: readonly Node[]): Promise<void> {
  for (const [index, node] of nodes.entries()) {
    const from = Math.floor((index * slots) / nodes.length);
    const to = Math.floor(((index + 1) * slots) / nodes.length) - 1;
    await command(node, `CLUSTER SET-CONFIG-EPOCH ${index + 1}`);
    await command(node, `CLUSTER ADDSLOTSRANGE ${from} ${to}`);
    const [first] = nodes;
    if (first !== undefined && node !== first) {
      await command(node, `CLUSTER MEET 127.0.0.1 ${first.port} ${first.busPort}`);
    }
  }
  const deadline = Date.now() + formTimeoutMs;
  while (!(await everyNodeServes(nodes))) {
    if (Date.now() >= deadline) {
      throw new LocalServiceError(
        'LAPSE_SERVICE_START_FAILED',
        `Redis Cluster did not form in ${formTimeoutMs} ms`,
      );
    }
    await sleep(pollMs);
  }
}

async function everyNodeServes(nodes: readonly Node[]): Promise<boolean> {
  const states = await Promise.all(
    nodes.map(({ port }) =>
      exchange(port, 'CLUSTER INFO\r\n', (bytes) => bytes.includes('cluster_known_nodes:')),
    ),
  );
  return states.every((state) => {
    const text = state?.toString('latin1') ?? '';
    return text.includes('cluster_state:ok') && text.includes(`cluster_known_nodes:${nodes.length}`);
  });
}

async function command({ name, port }: Node, text: string): Promise<void> {
  const answer = await exchange(port, `${text}\r\n`, (bytes) => bytes.includes('\r\n'));
  if (answer?.toString('latin1').startsWith('+OK')) return;
  const said = answer?.toString('latin1').trim() ?? 'nothing';
  throw new LocalServiceError('LAPSE_SERVICE_START_FAILED', `${name} answered ${text} with: ${said}`);
}
