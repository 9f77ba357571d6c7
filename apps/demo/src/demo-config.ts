import { parseArgs } from 'node:util';
import type { ApiClientConfig } from './api-client.ts';

export interface DemoConfig extends ApiClientConfig {
  readonly mysqlUrl: string;
  readonly redisUrl: string;
  readonly buyers: number;
  /** Windows of the activities: seconds by default, the true 10 and 15 minutes with --real-time. */
  readonly remindAfterMs: number;
  readonly payWithinMs: number;
  /** Buyers who come back for places that closed orders gave back: not when that takes 15 minutes more. */
  readonly secondWave: boolean;
}

const help = `npm run demo [-- --real-time] [--buyers N]

  Plays a sale of 400 + 300 places against the running system (or starts one), then lets the oracle judge.
  --real-time   reminder after 10 minutes, close after 15: a run of about 16 minutes
  --buyers N    how many people come (default 1000, at most 20000)
  --help        this text`;

const buyersMax = 20_000;

/** Read arguments and environment of the demo. Prints its help or fault and exits where there is nothing to run. */
export function readDemoConfig(args: readonly string[], env: NodeJS.ProcessEnv): DemoConfig {
  const { values } = parseArgs({
    args: [...args],
    options: {
      'real-time': { type: 'boolean', default: false },
      buyers: { type: 'string', default: '1000' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(`${help}\n`);
    process.exit(0);
  }
  const buyers = Number(values.buyers);
  if (!Number.isSafeInteger(buyers) || buyers < 10 || buyers > buyersMax) {
    throw new Error(
      `LAPSE_DEMO_ARGUMENT: --buyers must be a whole number from 10 to ${buyersMax}, such as 1000`,
    );
  }
  return {
    apiUrl: required(env, 'LAPSE_API_URL'),
    jwtSecret: required(env, 'LAPSE_JWT_SECRET'),
    jwtAudience: env.LAPSE_JWT_AUDIENCE ?? 'lapse',
    webhookSecret: required(env, 'LAPSE_PAYMENT_WEBHOOK_SECRET'),
    mysqlUrl: required(env, 'LAPSE_MYSQL_URL'),
    redisUrl: required(env, 'LAPSE_REDIS_URL'),
    buyers,
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
