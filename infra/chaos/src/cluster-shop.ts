import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createLocalService,
  freePort,
  type LocalService,
  type RocketmqService,
  startMariadb,
  startRedis,
  startRocketmqCluster,
} from '@lapse/local-services';
import { sleep } from '@lapse/runtime';
import { type CommandTools, prepareStores, readSecrets, rootDir, sharedAppEnv } from '@lapse/stack';
import { createApiClient } from './api-client.ts';
import { createLedger } from './ledger.ts';

/** A sale on private services, the broker of which is a cluster: one process of each kind, no provider. */
export interface ClusterShop {
  readonly mysqlUrl: string;
  readonly redisUrl: string;
  readonly rocketmq: RocketmqService;
  /** Another buyer, who asks until there is an order. */
  buy(): Promise<void>;
  /** By status. */
  answers(): string;
  close(): Promise<void>;
}

const windows = { remindAfterMs: 8_000, payWithinMs: 20_000 } as const;
/** The sweep takes what the broker is late with, 10 to 15 s after its deadline. */
const settings = { LAPSE_SWEEP_GRACE: '10s', LAPSE_SWEEP_EVERY: '5s' } as const;
const apps = ['producer', 'reminder', 'closer', 'sweeper'] as const;
const againMs = 200;
const lookEveryMs = 1_000;
const readyTimeoutMs = 60_000;
const stopGraceMs = 20_000;

export async function openClusterShop({
  dir,
  print,
  signal,
  onKill,
}: CommandTools & { readonly dir: string }): Promise<ClusterShop> {
  const running: LocalService[] = [];
  const kill = (): void => {
    for (const service of running) service.kill('SIGKILL');
  };
  const close = async (): Promise<void> => {
    kill();
    await Promise.all(running.map((service) => service.stop()));
  };
  const own = <S extends LocalService>(service: S): S => {
    running.push(service);
    return service;
  };
  onKill(kill);
  const logs = join(dir, 'logs');
  mkdirSync(logs, { recursive: true });
  const log = (line: string): void => print.line(`  ${line}`);
  try {
    const [mysql, redis, rocketmq] = await print.step('services', 'services up', () =>
      Promise.all([
        startMariadb({ dir: join(dir, 'mysql'), database: 'lapse', signal, log }).then(own),
        startRedis({ dir: join(dir, 'redis'), signal, log }).then(own),
        startRocketmqCluster({ dir: join(dir, 'rocketmq'), withSlave: true, signal, log }).then(own),
      ]),
    );
    const secrets = await readSecrets(join(dir, 'secrets.json'), {});
    const httpPort = await freePort();
    const services = {
      ...{ mysqlUrl: mysql.url, redisUrl: redis.url },
      ...{ rocketmqEndpoints: rocketmq.endpoints, rocketmqNamesrv: rocketmq.namesrv },
    };
    const env = { ...sharedAppEnv(plainEnv(), services, secrets, httpPort), ...settings };
    await prepareStores(env, logs, print);
    await print.step('the slave', 'the slave has the topics', () => slaveHasTopics(dir, signal));
    const planned = await Promise.all(apps.map(async (app) => own(await planApp(app, logs, env))));
    await print.step('apps', `${apps.length} processes ready`, () =>
      Promise.all(planned.map((app) => app.start())),
    );
    const addresses = {
      apiUrls: [`http://127.0.0.1:${httpPort}`],
      providerUrl: 'http://127.0.0.1:1',
      secrets,
    };
    return { ...(await openSale(addresses, signal)), ...services, rocketmq, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openSale(
  addresses: Parameters<typeof createApiClient>[0],
  signal: AbortSignal,
): Promise<Pick<ClusterShop, 'buy' | 'answers'>> {
  const ledger = createLedger();
  const api = createApiClient(addresses, ledger);
  const body = { ...windows, name: 'cluster', capacity: 100_000, priceMinor: 500, currency: 'CNY' };
  const { id } = await api.createActivity(body);
  let buyers = 0;
  return {
    buy: async () => {
      buyers += 1;
      const key = `order-${buyers}`;
      const token = await api.mintToken(`buyer ${buyers}`);
      while (!signal.aborted) {
        const answer = await api.createOrder(token, id, 1, key);
        if (answer.kind === 'ok') return;
        const [unexpected] = ledger.unexpected;
        if (answer.kind === 'refused' || unexpected !== undefined) {
          throw new Error(`An order was refused: ${unexpected ?? JSON.stringify(answer)}`);
        }
        await sleep(againMs, signal);
      }
    },
    answers: () => [...ledger.statuses].map(([status, count]) => `${status || 'none'}: ${count}`).join(', '),
  };
}

/** It asks its master for them once a minute; one that acts before then knows of no topic. */
async function slaveHasTopics(dir: string, signal: AbortSignal): Promise<void> {
  const file = join(dir, 'rocketmq', 'broker-b-slave', 'store', 'config', 'topics.json');
  while (
    !signal.aborted &&
    !(existsSync(file) && readFileSync(file, 'utf8').includes('order-timeout-close'))
  ) {
    await sleep(lookEveryMs, signal);
  }
}

async function planApp(
  app: (typeof apps)[number],
  logs: string,
  env: NodeJS.ProcessEnv,
): Promise<LocalService> {
  const opsPort = await freePort();
  return createLocalService({
    name: app,
    ports: { ops: opsPort },
    programs: [
      {
        name: app,
        command: process.execPath,
        args: ['--enable-source-maps', join(rootDir, 'apps', app, 'dist', 'main.js')],
        dir: logs,
        env: { ...env, LAPSE_OPS_PORT: String(opsPort) },
        ports: app === 'producer' ? [opsPort, Number(env.LAPSE_HTTP_PORT)] : [opsPort],
        ready: async () => (await fetch(`http://127.0.0.1:${opsPort}/readyz`)).ok,
        readyTimeoutMs,
        stopGraceMs,
      },
    ],
  });
}

/** A person's own LAPSE_ settings must not change what is measured. */
function plainEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('LAPSE_')));
}
