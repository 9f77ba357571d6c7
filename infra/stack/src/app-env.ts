import { demoAudience } from './mint-token.ts';
import type { DemoSecrets } from './secrets.ts';
import type { StackServices } from './services.ts';

/** The page is not part of a demo: it has nothing to do there. */
const pageName = 'console';
const shopNames = ['producer', 'reminder', 'closer', 'sweeper', 'settler', 'payment-simulator'] as const;
export type AppName = (typeof shopNames)[number] | typeof pageName;

export function appNames({ withPage }: { readonly withPage: boolean }): readonly AppName[] {
  return withPage ? [...shopNames, pageName] : shopNames;
}

/** Readable ports for a person with curl; the next free one when taken. */
export const opsPortsPreferred: Record<AppName, number> = {
  producer: 9_401,
  reminder: 9_402,
  closer: 9_403,
  sweeper: 9_404,
  settler: 9_405,
  'payment-simulator': 9_406,
  console: 9_407,
};

/** An app drains its long polls (5 s) and closes; the stack as a whole has 20 s. */
const shutdownTimeout = '8s';
const shutdownStepTimeout = '7s';

/** Where the payment simulator listens, and keeps its journal. */
export interface SimulatorPlace {
  readonly port: number;
  readonly dir: string;
}

/**
 * The settings that all apps share, on top of what the person set (a log level, a batch size).
 * Each app gets its ops port besides. npm's own variables are left out.
 */
export function sharedAppEnv(
  env: NodeJS.ProcessEnv,
  services: Pick<StackServices, 'mysqlUrl' | 'redisUrl' | 'rocketmqEndpoints' | 'rocketmqNamesrv'>,
  secrets: DemoSecrets,
  httpPort: number,
  simulator?: SimulatorPlace,
): NodeJS.ProcessEnv {
  const own = Object.entries(env).filter(
    ([name]) => !/^(npm_|LAPSE_JWKS_URL|LAPSE_ROCKETMQ_NAMESRV)/.test(name),
  );
  return {
    LAPSE_SHUTDOWN_TIMEOUT: shutdownTimeout,
    LAPSE_SHUTDOWN_STEP_TIMEOUT: shutdownStepTimeout,
    // The default, said aloud: so the command line beside it knows how buyers are told.
    LAPSE_NOTIFY_CHANNEL: 'log',
    LAPSE_PAY_URL: `http://127.0.0.1:${httpPort}/pay/{orderId}`,
    ...(simulator && simulatorEnv(secrets, httpPort, simulator)),
    ...Object.fromEntries(own),
    LAPSE_MYSQL_URL: services.mysqlUrl,
    LAPSE_REDIS_URL: services.redisUrl,
    LAPSE_ROCKETMQ_ENDPOINTS: services.rocketmqEndpoints,
    ...(services.rocketmqNamesrv && { LAPSE_ROCKETMQ_NAMESRV: services.rocketmqNamesrv }),
    LAPSE_HTTP_PORT: String(httpPort),
    LAPSE_JWT_SECRET: secrets.jwtSecret,
    LAPSE_JWT_AUDIENCE: demoAudience,
    LAPSE_PAYMENT_WEBHOOK_SECRET: secrets.webhookSecret,
  };
}

/** The simulator takes the payments, unless the person names a provider of their own (LAPSE_PAYMENT_PROVIDER). */
function simulatorEnv(
  secrets: DemoSecrets,
  httpPort: number,
  { port, dir }: SimulatorPlace,
): NodeJS.ProcessEnv {
  return {
    LAPSE_PAYMENT_PROVIDER: 'simulator',
    LAPSE_PAYMENT_URL: `http://127.0.0.1:${port}`,
    LAPSE_PAYMENT_API_KEY: secrets.simulatorKey,
    LAPSE_SIM_API_KEY: secrets.simulatorKey,
    LAPSE_SIM_PORT: String(port),
    LAPSE_SIM_DIR: dir,
    LAPSE_SIM_WEBHOOK_URL: `http://127.0.0.1:${httpPort}/v1/payments/webhook`,
    LAPSE_SIM_WEBHOOK_SECRET: secrets.webhookSecret,
  };
}

/** The page: every browser is a buyer of its own here, and a reminder's link leads to its order. */
export function consoleEnv(
  secrets: DemoSecrets,
  { httpPort, consolePort }: { readonly httpPort: number; readonly consolePort: number },
): NodeJS.ProcessEnv {
  return {
    LAPSE_CONSOLE_PORT: String(consolePort),
    LAPSE_CONSOLE_PRODUCER_URL: `http://127.0.0.1:${httpPort}`,
    LAPSE_CONSOLE_COOKIE_SECRET: secrets.cookieSecret,
    LAPSE_CONSOLE_GUESTS: 'true',
    LAPSE_PAY_URL: `http://127.0.0.1:${consolePort}/orders/{orderId}`,
  };
}
