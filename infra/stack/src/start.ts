import { once } from 'node:events';
import { LocalServiceError } from '@lapse/local-services';
import { sleep } from '@lapse/runtime';
import { parseStartArgs } from './args.ts';
import { createDemoActivity } from './demo-activity.ts';
import { explain } from './explain.ts';
import { stackFolders } from './folders.ts';
import { mintToken } from './mint-token.ts';
import { onStop } from './on-stop.ts';
import { openStack, type Stack } from './open-stack.ts';
import { createPrinter } from './print.ts';
import { findRunningStack } from './state-file.ts';
import { showStatus } from './status-line.ts';
import { welcomeText } from './welcome.ts';

/** `npm start`: everything up, then one living line until told to stop. */
const print = createPrinter();
const stop = new AbortController();
let stack: Stack | undefined;

onStop(
  (why) => {
    print.line(`stopping (${why})`);
    stop.abort();
  },
  () => {
    print.line('killing what is left');
    stack?.kill();
    process.exit(130);
  },
);

const startedAt = performance.now();
process.exitCode = await main().then(
  () => 0,
  async (error: unknown) => {
    if (stop.signal.aborted) return 130;
    print.line(`\n${explain(error)}`);
    if (error instanceof LocalServiceError && error.code === 'LAPSE_FOLDER_LOCKED') await sayRunning();
    return 1;
  },
);
print.end();
process.exit();

async function main(): Promise<void> {
  const args = parseStartArgs(process.argv.slice(2), process.env);
  stack = await openStack({ args, withPage: true, env: process.env, print, signal: stop.signal });
  try {
    if (args.apps) await welcome(stack);
    else print.line(`services are up; the settings of the apps are in ${stack.folders.data}/dev.env`);
    print.line(`ready after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    const status = showStatus(stack.state.mysqlUrl, print);
    if (args.forSeconds === null) await once(stop.signal, 'abort');
    else await sleep(args.forSeconds * 1_000, stop.signal);
    await status.close();
  } finally {
    print.end();
    const stoppedAt = performance.now();
    await stack.close();
    print.line(`everything is stopped after ${((performance.now() - stoppedAt) / 1000).toFixed(1)} s`);
  }
}

async function welcome({ state, secrets, folders }: Stack): Promise<void> {
  const operator = await mintToken(secrets.jwtSecret, { sub: 'demo-operator', scope: 'operator' });
  const activityId = await print.step(
    'demo activity',
    (id) => `demo activity ${id} on sale: 100 places, pay within 60 s, reminder at 40 s`,
    () => createDemoActivity(state.apiUrl, operator),
  );
  const buyerToken = await mintToken(secrets.jwtSecret, { sub: 'demo-buyer' });
  print.line(welcomeText({ state, activityId, buyerToken, operatorToken: operator, dataDir: folders.data }));
}

async function sayRunning(): Promise<void> {
  const running = await findRunningStack(stackFolders().stateFile);
  if (running) print.line(`Lapse runs on this folder already: ${running.apiUrl} (process ${running.pid}).`);
}
