import { join } from 'node:path';
import { type LocalService, startMariadb, startRedis, startRocketmq, supervise } from '@lapse/local-services';
import type { Closable } from '@lapse/runtime';
import type { ServiceName } from './choose-services.ts';
import { keepRunning } from './keep-running.ts';
import type { Printer } from './print.ts';

export interface LocalServices extends Closable {
  readonly mysqlUrl?: string;
  readonly redisUrl?: string;
  readonly rocketmqEndpoints?: string;
  readonly rocketmqNamesrv?: string;
  /** SIGKILL to what still runs. Every write that was confirmed is on disk. */
  kill(): void;
}

export interface LocalOptions {
  readonly dir: string;
  readonly wanted: readonly ServiceName[];
  readonly print: Printer;
  /** Preferred ports; without them any free ones. */
  readonly ports?: Readonly<Record<ServiceName, number>>;
  /** Created when absent, and named in the address. */
  readonly database?: string;
  /** Redis databases: test files take one each. */
  readonly redisDatabases?: number;
  /** Start again what dies. Tests want to see a death instead. */
  readonly restart: boolean;
  /** Cuts the start short. */
  readonly signal: AbortSignal;
}

/**
 * Private instances as children of this process, side by side, each with its own folder and ports.
 * @throws {LocalServiceError} saying what failed; what had started by then is stopped.
 */
export async function openLocal(options: LocalOptions): Promise<LocalServices> {
  const { dir, wanted, print, ports, database, redisDatabases } = options;
  const log = (line: string): void => print.line(`  ${line}`);
  const started: LocalService[] = [];
  const start = async <S extends LocalService>(
    name: ServiceName,
    label: string,
    open: (common: Common) => Promise<S>,
  ): Promise<S | undefined> => {
    if (!wanted.includes(name)) return undefined;
    const port = ports?.[name];
    const common = { dir: join(dir, name), log, signal: options.signal, ...(port !== undefined && { port }) };
    const service = await print.step(label, `${label} up`, () => open(common));
    started.push(service);
    return service;
  };
  const opening = [
    start('mysql', 'MariaDB', (common) => startMariadb({ ...common, ...(database && { database }) })),
    start('redis', 'Redis', (common) =>
      startRedis({ ...common, ...(redisDatabases && { databases: redisDatabases }) }),
    ),
    start('rocketmq', 'RocketMQ', startRocketmq),
  ] as const;
  let watches: { stop(): void }[] = [];
  const close = async (): Promise<void> => {
    for (const watch of watches) watch.stop();
    await Promise.all(
      started.map((service) =>
        print.step(`stopping ${service.name}`, `${service.name} stopped`, service.close),
      ),
    );
  };
  try {
    const [mysql, redis, rocketmq] = await Promise.all(opening);
    if (options.restart) watches = started.map((service) => supervise(service, keepRunning(print)));
    return {
      ...(mysql && { mysqlUrl: mysql.url }),
      ...(redis && { redisUrl: redis.url }),
      ...(rocketmq && { rocketmqEndpoints: rocketmq.endpoints, rocketmqNamesrv: rocketmq.namesrv }),
      close,
      kill: () => {
        for (const service of started) service.kill('SIGKILL');
      },
    };
  } catch (error) {
    // The others may still be on their way up.
    await Promise.allSettled(opening);
    await close();
    throw error;
  }
}

interface Common {
  readonly dir: string;
  readonly log: (line: string) => void;
  readonly port?: number;
  readonly signal: AbortSignal;
}
