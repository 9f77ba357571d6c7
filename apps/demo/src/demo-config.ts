import { parseArgs } from 'node:util';
import type { ApiClientConfig, ProviderClientConfig } from '@lapse/sale-player';

export interface DemoConfig extends ApiClientConfig, ProviderClientConfig {
  readonly mysqlUrl: string;
  readonly redisUrl: string;
  readonly buyers: number;
  /** Orders a second of a steady stream; undefined: a sale. */
  readonly steadyPerSecond: number | undefined;
  /** Windows of the activities: seconds by default, the true 10 and 15 minutes with --real-time. */
  readonly remindAfterMs: number;
  readonly payWithinMs: number;
  /** Buyers who come back for places that closed orders gave back: not when that takes 15 minutes more. */
  readonly secondWave: boolean;
}

const buyersMin = 10;
const buyersMax = 20_000;
const steadyPerSecondMax = 200;

/** Read arguments (`npm run demo -- --help` explains them) and environment of the demo. Throws what is wrong with them. */
export function readDemoConfig(args: readonly string[], env: NodeJS.ProcessEnv): DemoConfig {
  const { values } = parseArgs({
    args: [...args],
    options: {
      'real-time': { type: 'boolean', default: false },
      buyers: { type: 'string', default: '1000' },
      steady: { type: 'string' },
    },
  });
  const buyers = wholeNumber('--buyers', values.buyers, buyersMin, buyersMax);
  return {
    apiUrl: required(env, 'LAPSE_API_URL'),
    jwtSecret: required(env, 'LAPSE_JWT_SECRET'),
    jwtAudience: env.LAPSE_JWT_AUDIENCE ?? 'lapse',
    providerUrl: required(env, 'LAPSE_PAYMENT_URL'),
    providerKey: required(env, 'LAPSE_PAYMENT_API_KEY'),
    mysqlUrl: required(env, 'LAPSE_MYSQL_URL'),
    redisUrl: required(env, 'LAPSE_REDIS_URL'),
    buyers,
    steadyPerSecond:
      values.steady === undefined ? undefined : wholeNumber('--steady', values.steady, 1, steadyPerSecondMax),
    remindAfterMs: values['real-time'] ? 600_000 : 12_000,
    payWithinMs: values['real-time'] ? 900_000 : 20_000,
    secondWave: !values['real-time'],
  };
}

function required(env: NodeJS.ProcessEnv, name: string): string {
  const value = env[name];
  if (!value)
    throw new Error(
      `LAPSE_DEMO_ENVIRONMENT: ${name} is missing: run the demo with npm run demo, which sets it`,
    );
  return value;
}

function wholeNumber(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw new Error(`LAPSE_DEMO_ARGUMENT: ${name} must be a whole number from ${min} to ${max}`);
}
