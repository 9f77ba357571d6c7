import { parseOptions } from './parse-options.ts';
import { UsageError } from './usage-error.ts';

/** How the services are chosen: see `npm start -- --help`. */
const serviceChoices = ['auto', 'external', 'local', 'compose'] as const;
export type ServiceChoice = (typeof serviceChoices)[number];

export interface StartArgs {
  readonly services: ServiceChoice;
  readonly reset: boolean;
  readonly port: number;
  /** Stop by itself after so many seconds; null: run until told to stop. */
  readonly forSeconds: number | null;
  readonly apps: boolean;
}

export interface TestArgs {
  /** Name of the one package whose tests are wanted; null: everything. */
  readonly only: string | null;
  readonly keep: boolean;
  readonly concurrency: number;
}

export interface DemoArgs {
  readonly services: ServiceChoice;
  /** What apps/demo gets: everything that the stack does not know. */
  readonly rest: readonly string[];
}

/** Every option of `npm start`, `npm test`, `npm run demo`; a test holds infra/help.mjs against it. */
export const optionNames = {
  start: ['services', 'reset', 'port', 'for', 'no-apps'],
  test: ['only', 'keep', 'concurrency'],
  demo: ['services', 'real-time', 'buyers', 'steady'],
} as const;

const httpPortDefault = 8080;
const portMax = 65_535;
const forSecondsMax = 86_400;

export function parseStartArgs(args: readonly string[], env: NodeJS.ProcessEnv): StartArgs {
  const values = parseOptions(args, {
    services: { type: 'string' },
    reset: { type: 'boolean', default: false },
    port: { type: 'string' },
    for: { type: 'string' },
    'no-apps': { type: 'boolean', default: false },
  });
  return {
    services: serviceChoice(values.services, env),
    reset: values.reset === true,
    port:
      values.port === undefined
        ? httpPortOf(env)
        : wholeNumber('--port', values.port, httpPortDefault, portMax),
    forSeconds: values.for === undefined ? null : wholeNumber('--for', values.for, 0, forSecondsMax),
    apps: values['no-apps'] !== true,
  };
}

/** Where the API listens when no option says it: LAPSE_HTTP_PORT, else 8080. */
export function httpPortOf(env: NodeJS.ProcessEnv): number {
  return wholeNumber('LAPSE_HTTP_PORT', env.LAPSE_HTTP_PORT || undefined, httpPortDefault, portMax);
}

/**
 * Of two cores: most tests of a package wait for a deadline or for a broker that comes back. All together use a third to
 * half of a core a package, the crash points, which are as long as a quarter of the others, most of one.
 */
const packagesAtOnce = 4;

export function parseTestArgs(args: readonly string[]): TestArgs {
  const values = parseOptions(args, {
    only: { type: 'string' },
    keep: { type: 'boolean', default: false },
    concurrency: { type: 'string' },
  });
  return {
    only: values.only ?? null,
    keep: values.keep === true,
    concurrency: wholeNumber('--concurrency', values.concurrency, packagesAtOnce, 16),
  };
}

/** `--services` is the stack's; anything else is the demo's own and is passed through as it came. */
export function parseDemoArgs(args: readonly string[], env: NodeJS.ProcessEnv): DemoArgs {
  const rest = [...args];
  const at = rest.findIndex((arg) => arg === '--services' || arg.startsWith('--services='));
  if (at === -1) return { services: serviceChoice(undefined, env), rest };
  const [taken = ''] = rest.splice(at, 1);
  const value = taken.includes('=') ? taken.slice('--services='.length) : rest.splice(at, 1)[0];
  return { services: serviceChoice(value ?? '', env), rest };
}

function serviceChoice(value: unknown, env: NodeJS.ProcessEnv): ServiceChoice {
  const given = value ?? env.LAPSE_SERVICES ?? 'auto';
  const choice = serviceChoices.find((known) => known === given);
  if (choice) return choice;
  throw new UsageError(`--services=${String(given)} is unknown: one of ${serviceChoices.join(', ')}.`);
}

function wholeNumber(name: string, value: unknown, otherwise: number, max: number): number {
  if (value === undefined) return otherwise;
  const number = Number(value);
  if (Number.isInteger(number) && number >= 1 && number <= max) return number;
  throw new UsageError(`${name}=${String(value)} must be a whole number from 1 to ${max}.`);
}
