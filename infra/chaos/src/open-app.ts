import { join } from 'node:path';
import { createLocalService, freePort, type LocalService } from '@lapse/local-services';
import { rootDir } from '@lapse/stack';
import { type KeptService, keepUp } from './keep-up.ts';
import { type NetworkLink, openLink } from './network-link.ts';
import type { ChaosServices } from './open-services.ts';

export const linkedServices = ['mysql', 'redis', 'broker'] as const;
export type LinkedService = (typeof linkedServices)[number];

/** One process of an app, with a network of its own to each service. */
export interface ChaosApp {
  /** Such as `closer-2`. */
  readonly name: string;
  readonly kept: KeptService;
  readonly links: Readonly<Record<LinkedService, NetworkLink>>;
  /** Of the API, where the app has one. */
  readonly apiUrl: string;
  readonly logFile: string;
  /** What the next start gets besides; for clocks that run wrong. */
  setExtraEnv(extra: Readonly<Record<string, string>>): void;
  close(): Promise<void>;
}

export interface AppOptions {
  readonly app: string;
  readonly number: number;
  readonly services: ChaosServices;
  readonly logs: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A process that starts while its database is away waits for it; the orchestrator waits as long. */
const readyTimeoutMs = 120_000;
const probeTimeoutMs = 2_000;
const stopGraceMs = 9_000;

/** Make one process of an app; `kept.service.start()` starts it. */
export async function openApp({ app, number, services, logs, env }: AppOptions): Promise<ChaosApp> {
  const name = `${app}-${number}`;
  const [opsPort, httpPort] = [await freePort(), await freePort()];
  const links = {
    mysql: await openLink({ upstreamPort: services.ports.mysql, httpConnect: false }),
    redis: await openLink({ upstreamPort: services.ports.redis, httpConnect: false }),
    broker: await openLink({ upstreamPort: services.ports.broker, httpConnect: true }),
  };
  let extra: Readonly<Record<string, string>> = {};
  const own = {
    LAPSE_MYSQL_URL: services.mysqlUrl.replace(`:${services.ports.mysql}`, `:${links.mysql.port}`),
    LAPSE_REDIS_URL: `redis://127.0.0.1:${links.redis.port}`,
    LAPSE_OPS_PORT: String(opsPort),
    LAPSE_HTTP_PORT: String(httpPort),
    grpc_proxy: `http://127.0.0.1:${links.broker.port}`,
  };
  const service: LocalService = createLocalService({
    name,
    ports: { ops: opsPort, http: httpPort },
    programs: [
      {
        name,
        command: process.execPath,
        args: ['--enable-source-maps', join(rootDir, 'apps', app, 'dist', 'main.js')],
        dir: logs,
        // Read at each start.
        get env() {
          return { ...env, ...own, ...extra };
        },
        ports: app === 'producer' ? [opsPort, httpPort] : [opsPort],
        ready: () => isReady(`http://127.0.0.1:${opsPort}/readyz`, () => service.pids),
        readyTimeoutMs,
        stopGraceMs,
      },
    ],
  });
  return {
    name,
    kept: keepUp(service),
    links,
    apiUrl: `http://127.0.0.1:${httpPort}`,
    logFile: join(logs, `${name}.log`),
    setExtraEnv: (wanted) => {
      extra = wanted;
    },
    close: async () => {
      for (const link of Object.values(links)) link.setFault(undefined);
      await Promise.all(Object.values(links).map((link) => link.close()));
    },
  };
}

async function isReady(url: string, pids: () => readonly number[]): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(probeTimeoutMs) });
  const { pid } = (await response.json()) as { readonly pid?: number };
  return response.ok && pid !== undefined && pids().includes(pid);
}
