import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { lapseEnvironment } from './lapse-environment.ts';
import type { Sale } from './sale.ts';
import type { Program } from './start-programs.ts';

/** What runs day and night, in the order of an order's life. */
export const apps = ['producer', 'reminder', 'closer', 'settler', 'sweeper'] as const;
export type App = (typeof apps)[number];

/** Of the producer. */
export interface AppHttp {
  readonly port: number;
  /** Signs the buyers' tokens. */
  readonly jwtSecret: string;
}

/** A process of Lapse as it is deployed, with default settings but where its stores are; `env` adds what it must be told. */
export function appProgram(
  app: App,
  sale: Sale,
  name: string = app,
  env: Readonly<Record<string, string>> = {},
): Program {
  return {
    name,
    file: fileURLToPath(new URL(`../../${app}/dist/main.js`, import.meta.url)),
    env: { ...lapseEnvironment(sale), LAPSE_OPS_PORT: '0', ...env },
    readyText: '"started"',
  };
}

/** The same of each of these, told what it cannot start without. */
export function appPrograms(wanted: readonly App[], sale: Sale, http: AppHttp): Program[] {
  return wanted.map((app) => appProgram(app, sale, app, ownEnvironment(app, http)));
}

/** What this kind of process cannot start without. */
export function ownEnvironment(app: App, http: AppHttp): Record<string, string> {
  if (app === 'producer') return producerEnvironment(http);
  if (app === 'settler') return settlerEnvironment();
  return {};
}

export function producerEnvironment({ port, jwtSecret }: AppHttp): Record<string, string> {
  return {
    LAPSE_HTTP_PORT: String(port),
    LAPSE_JWT_SECRET: jwtSecret,
    LAPSE_PAYMENT_WEBHOOK_SECRET: webhookSecret(),
  };
}

/** With a provider, else it looks after half of what it is there for. Nobody pays, so that nobody has to answer there. */
function settlerEnvironment(): Record<string, string> {
  return {
    LAPSE_PAYMENT_PROVIDER: 'simulator',
    LAPSE_PAYMENT_URL: 'http://127.0.0.1:9',
    LAPSE_PAYMENT_API_KEY: randomBytes(32).toString('base64url'),
    LAPSE_PAYMENT_WEBHOOK_SECRET: webhookSecret(),
  };
}

function webhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
