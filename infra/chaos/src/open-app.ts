import { join } from 'node:path';
import { createLocalService, freePort, type LocalService } from '@lapse/local-services';
import { rootDir } from '@lapse/stack';
import { nodeArgs } from '@lapse/testing';
import { type KeptService, keepUp } from './keep-up.ts';
import { type NetworkLink, openLink } from './network-link.ts';
import type { ChaosServices } from './open-services.ts';

export type LinkedService = 'mysql' | 'redis' | 'broker' | 'provider';

/** Which services each app talks to: only these links can break. */
const linkedServices: Readonly<Record<string, readonly LinkedService[]>> = {
  producer: ['mysql', 'redis', 'broker', 'provider'],
  reminder: ['mysql', 'redis', 'broker'],
  closer: ['mysql', 'redis', 'broker'],
  sweeper: ['mysql', 'redis', 'broker'],
  settler: ['mysql', 'redis', 'provider'],
};

/** One process of an app, with a network of its own to each service. */
export interface ChaosApp {
  /** Such as `closer-2`. */
  readonly name: string;
  readonly kept: KeptService;
  readonly links: Readonly<Partial<Record<LinkedService, NetworkLink>>>;
  /** Of the API, where the app has one. */
  readonly apiUrl: string;
  /** Of its probes and metrics. */
  readonly opsUrl: string;
  readonly logFile: string;
  /** What the next start gets besides; for clocks that run wrong. */
  setExtraEnv(extra: Readonly<Record<string, string>>): void;
  close(): Promise<void>;
}

export interface AppOptions {
  readonly app: string;
  readonly number: number;
  readonly services: ChaosServices;
  /** Of the payment simulator. */
  readonly providerPort: number;
  readonly logs: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A process that starts while its database is away waits for it; the orchestrator waits as long. */
const readyTimeoutMs = 120_000;
const probeTimeoutMs = 2_000;
const stopGraceMs = 9_000;

/** Make one process of an app; `kept.service.start()` starts it. */
export async function openApp(options: AppOptions): Promise<ChaosApp> {
  const { app, number, services, logs, env } = options;
  const name = `${app}-${number}`;
  const [opsPort, httpPort] = [await freePort(), await freePort()];
  const links = await openLinks(options);
  let extra: Readonly<Record<string, string>> = {};
  const own = {
    ...linkedEnv(services, links),
    LAPSE_OPS_PORT: String(opsPort),
    LAPSE_HTTP_PORT: String(httpPort),
  };
  const service: LocalService = createLocalService({
    name,
    ports: { ops: opsPort, http: httpPort },
    programs: [
      {
        name,
        command: process.execPath,
        args: [...nodeArgs, join(rootDir, 'apps', app, 'dist', 'main.js')],
        dir: logs,
        // Read at each start.
        get env() {
          return { ...env, ...own, ...extra };
        },
        ports: portsOf(options, opsPort, httpPort),
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
    opsUrl: `http://127.0.0.1:${opsPort}`,
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

async function openLinks({ app, services, providerPort }: AppOptions): Promise<ChaosApp['links']> {
  const links: Partial<Record<LinkedService, NetworkLink>> = {};
  for (const service of linkedServices[app] ?? []) {
    const upstreamPort = service === 'provider' ? providerPort : services.ports[service];
    links[service] = await openLink({ upstreamPort, httpConnect: service === 'broker' });
  }
  return links;
}

/** Every address leads through the link, where there is one. */
function linkedEnv({ mysqlUrl, ports }: ChaosServices, links: ChaosApp['links']): Record<string, string> {
  const { mysql, redis, broker, provider } = links;
  return {
    ...(mysql && { LAPSE_MYSQL_URL: mysqlUrl.replace(`:${ports.mysql}`, `:${mysql.port}`) }),
    ...(redis && { LAPSE_REDIS_URL: `redis://127.0.0.1:${redis.port}` }),
    ...(broker && { grpc_proxy: `http://127.0.0.1:${broker.port}` }),
    ...(provider && { LAPSE_PAYMENT_URL: `http://127.0.0.1:${provider.port}` }),
  };
}

/** What must be free when it starts. */
function portsOf({ app, providerPort }: AppOptions, opsPort: number, httpPort: number): number[] {
  if (app === 'producer') return [opsPort, httpPort];
  return app === 'payment-simulator' ? [opsPort, providerPort] : [opsPort];
}

async function isReady(url: string, pids: () => readonly number[]): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(probeTimeoutMs) });
  const { pid } = (await response.json()) as { readonly pid?: number };
  return response.ok && pid !== undefined && pids().includes(pid);
}
