import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPortHolder } from '@lapse/local-services';
import { BenchError } from './bench-error.ts';
import { createPeerServices, type PeerServices } from './peer-services.ts';
import type { NamedPids } from './process-usage.ts';

/** Addresses of what everything is measured against, and where logs of the contenders go. */
export interface BenchServices {
  readonly mysqlUrl: string;
  readonly redisUrl: string;
  readonly rocketmqEndpoints: string;
  readonly rocketmqNamesrv: string;
  readonly dir: string;
  /** Of the services, so that each one's CPU time can be read. */
  readonly pids: NamedPids;
  /** Services that one contender alone needs; started when it runs for the first time. */
  readonly peers: PeerServices;
}

/** @throws {BenchError} LAPSE_BENCH_ENVIRONMENT naming what is missing. */
export async function readServices(env: NodeJS.ProcessEnv): Promise<BenchServices> {
  const addresses = {
    mysqlUrl: required(env, 'LAPSE_MYSQL_URL'),
    redisUrl: required(env, 'LAPSE_REDIS_URL'),
    rocketmqEndpoints: required(env, 'LAPSE_ROCKETMQ_ENDPOINTS'),
    rocketmqNamesrv: required(env, 'LAPSE_ROCKETMQ_NAMESRV'),
  };
  const dir = env.LAPSE_BENCH_DIR || join(tmpdir(), `lapse-bench-${process.pid}`);
  return {
    ...addresses,
    dir,
    peers: createPeerServices(dir),
    pids: {
      mysql: await holderOf(new URL(addresses.mysqlUrl).port),
      redis: await holderOf(new URL(addresses.redisUrl).port),
      broker: await holderOf(addresses.rocketmqEndpoints.split(':')[1]),
    },
  };
}

/** None when it runs elsewhere or belongs to another user: then its CPU time is not measured. */
async function holderOf(port: string | undefined): Promise<number[]> {
  const pid = await findPortHolder(Number(port));
  return pid === undefined ? [] : [pid];
}

function required(env: NodeJS.ProcessEnv, name: string): string {
  const value = env[name];
  if (value) return value;
  throw new BenchError(
    'LAPSE_BENCH_ENVIRONMENT',
    `${name} is missing: run "npm run bench", which starts private services and sets it.`,
  );
}
