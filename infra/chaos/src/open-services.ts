import { join } from 'node:path';
import {
  type MariadbService,
  type RedisService,
  type RocketmqService,
  startMariadb,
  startRedis,
  startRocketmq,
} from '@lapse/local-services';
import type { Printer } from '@lapse/stack';
import { type KeptService, keepUp } from './keep-up.ts';

export interface ChaosServices {
  readonly mysqlUrl: string;
  readonly redisUrl: string;
  readonly redisDir: string;
  readonly rocketmqDir: string;
  readonly rocketmqEndpoints: string;
  readonly rocketmqNamesrv: string;
  readonly ports: { readonly mysql: number; readonly redis: number; readonly broker: number };
  readonly kept: Readonly<Record<'mysql' | 'redis' | 'rocketmq', KeptService>>;
  stop(): Promise<void>;
  kill(): void;
}

const databaseName = 'lapse';

/** Private services in `dir`, on any free ports; those of `npm start` and of tests are never touched. */
export async function openServices(dir: string, print: Printer, signal: AbortSignal): Promise<ChaosServices> {
  const log = (line: string): void => print.line(`  ${line}`);
  const started: { kill(signal: NodeJS.Signals): void; stop(): Promise<void> }[] = [];
  const open = async <S extends { kill(signal: NodeJS.Signals): void; stop(): Promise<void> }>(
    name: string,
    start: (options: { dir: string; log: typeof log; signal: AbortSignal }) => Promise<S>,
  ): Promise<S> => {
    const service = await start({ dir: join(dir, name), log, signal });
    started.push(service);
    return service;
  };
  const kill = (): void => {
    for (const service of started) service.kill('SIGKILL');
  };
  const opening = [
    open<MariadbService>('mysql', (options) => startMariadb({ ...options, database: databaseName })),
    open<RedisService>('redis', startRedis),
    open<RocketmqService>('rocketmq', startRocketmq),
  ] as const;
  try {
    const [mysql, redis, rocketmq] = await Promise.all(opening);
    const kept = { mysql: keepUp(mysql), redis: keepUp(redis), rocketmq: keepUp(rocketmq) };
    return {
      mysqlUrl: mysql.url,
      redisUrl: redis.url,
      redisDir: join(dir, 'redis'),
      rocketmqDir: join(dir, 'rocketmq'),
      rocketmqEndpoints: rocketmq.endpoints,
      rocketmqNamesrv: rocketmq.namesrv,
      ports: {
        mysql: Number(new URL(mysql.url).port),
        redis: Number(new URL(redis.url).port),
        broker: Number(rocketmq.endpoints.split(':')[1]),
      },
      kept,
      kill,
      stop: async () => {
        // The data is thrown away, so nothing is worth the 10 s that a broker takes to stop well.
        const stops = Object.values(kept).map((each) => each.stop());
        kill();
        await Promise.all(stops);
      },
    };
  } catch (error) {
    await Promise.allSettled(opening);
    kill();
    await Promise.allSettled(started.map((service) => service.stop()));
    throw error;
  }
}
