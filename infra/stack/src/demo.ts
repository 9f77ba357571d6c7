import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { httpPortOf, parseDemoArgs } from './args.ts';
import { explain } from './explain.ts';
import { rootDir, stackFolders } from './folders.ts';
import { demoAudience } from './mint-token.ts';
import { onStop } from './on-stop.ts';
import { openStack } from './open-stack.ts';
import { createPrinter } from './print.ts';
import { type DemoSecrets, readSecrets } from './secrets.ts';
import { findRunningStack, type StackState } from './state-file.ts';

/** `npm run demo`: a sale against the running stack of this folder, or against one of its own. */
const print = createPrinter();
const stop = new AbortController();
let kill = (): void => {};

onStop(
  (why) => {
    print.line(`stopping (${why})`);
    stop.abort();
  },
  () => {
    kill();
    process.exit(130);
  },
);

process.exitCode = await main().catch((error: unknown) => {
  if (!stop.signal.aborted) print.line(`\n${explain(error)}`);
  return 1;
});
print.end();
// An explicit undefined would wipe process.exitCode: a failed demo would exit 0.
process.exit(stop.signal.aborted ? 130 : process.exitCode);

async function main(): Promise<number> {
  const { services, rest } = parseDemoArgs(process.argv.slice(2), process.env);
  const { stateFile, secretsFile } = stackFolders();
  const running = await findRunningStack(stateFile);
  if (running) {
    print.line(`using the running stack: ${running.apiUrl} (process ${running.pid})`);
    return runDemo(running, await readSecrets(secretsFile, process.env), rest);
  }
  const args = { services, reset: false, port: httpPortOf(process.env), forSeconds: null, apps: true };
  const stack = await openStack({ args, withPage: false, env: process.env, print, signal: stop.signal });
  kill = stack.kill;
  let code = 1;
  try {
    code = await runDemo(stack.state, stack.secrets, rest);
  } finally {
    // The demo's own closing line is to be the last.
    if (!stop.signal.aborted) print.mute();
    await stack.close();
  }
  return code;
}

/** The demo is a client like any other: a process of its own that knows addresses and secrets. */
async function runDemo(state: StackState, secrets: DemoSecrets, args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [join(rootDir, 'apps', 'demo', 'dist', 'main.js'), ...args], {
    cwd: rootDir,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      LAPSE_API_URL: state.apiUrl,
      LAPSE_MYSQL_URL: state.mysqlUrl,
      LAPSE_REDIS_URL: state.redisUrl,
      LAPSE_ROCKETMQ_TOPIC_PREFIX: state.topicPrefix,
      LAPSE_JWT_SECRET: secrets.jwtSecret,
      LAPSE_JWT_AUDIENCE: demoAudience,
      LAPSE_PAYMENT_URL: state.simulatorUrl,
      LAPSE_PAYMENT_API_KEY: secrets.simulatorKey,
    },
  });
  const end = (): void => void child.kill('SIGTERM');
  stop.signal.addEventListener('abort', end, { once: true });
  const [code] = (await once(child, 'exit')) as [number | null];
  stop.signal.removeEventListener('abort', end);
  return code ?? 1;
}
