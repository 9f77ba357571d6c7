import { httpPortOf, parseDemoArgs } from './args.ts';
import { stackFolders } from './folders.ts';
import { demoAudience } from './mint-token.ts';
import { openStack } from './open-stack.ts';
import { runClient } from './run-client.ts';
import { runCommand } from './run-command.ts';
import { type DemoSecrets, readSecrets } from './secrets.ts';
import { findRunningStack, type StackState } from './state-file.ts';

/** `npm run demo`: a sale against the running stack of this folder, or against one of its own. */
await runCommand(async ({ print, signal, onKill }) => {
  const { services, rest } = parseDemoArgs(process.argv.slice(2), process.env);
  const { stateFile, secretsFile } = stackFolders();
  const running = await findRunningStack(stateFile);
  if (running) {
    print.line(`using the running stack: ${running.apiUrl} (process ${running.pid})`);
    return runDemo(running, await readSecrets(secretsFile, process.env), rest, signal);
  }
  const args = { services, reset: false, port: httpPortOf(process.env), forSeconds: null, apps: true };
  const stack = await openStack({ args, withPage: false, env: process.env, print, signal });
  onKill(stack.kill);
  let code = 1;
  try {
    code = await runDemo(stack.state, stack.secrets, rest, signal);
  } finally {
    // The demo's own closing line is to be the last.
    if (!signal.aborted) print.mute();
    await stack.close();
  }
  return code;
});

function runDemo(
  state: StackState,
  secrets: DemoSecrets,
  args: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  return runClient({
    ...{ app: 'demo', args, signal },
    env: {
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
}
