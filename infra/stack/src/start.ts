import { LocalServiceError } from '@lapse/local-services';
import { sleep } from '@lapse/runtime';
import { parseStartArgs } from './args.ts';
import { createDemoActivity } from './demo-activity.ts';
import { stackFolders } from './folders.ts';
import { mintToken } from './mint-token.ts';
import { openStack, type Stack } from './open-stack.ts';
import type { Printer } from './print.ts';
import { runCommand } from './run-command.ts';
import { findRunningStack } from './state-file.ts';
import { showStatus } from './status-line.ts';
import { untilAborted } from './until-aborted.ts';
import { welcomeText } from './welcome.ts';

/** `npm start`: everything up, then one living line until told to stop. */
const startedAt = performance.now();

await runCommand(async ({ print, signal, onKill }) => {
  const args = parseStartArgs(process.argv.slice(2), process.env);
  const stack = await openStack({ args, withPage: true, env: process.env, print, signal }).catch(
    async (error: unknown) => {
      if (error instanceof LocalServiceError && error.code === 'LAPSE_FOLDER_LOCKED') await sayRunning(print);
      throw error;
    },
  );
  onKill(() => {
    print.line('killing what is left');
    stack.kill();
  });
  try {
    if (args.apps) await welcome(stack, print);
    else print.line(`services are up; the settings of the apps are in ${stack.folders.data}/dev.env`);
    print.line(`ready after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    const status = showStatus(stack.state.mysqlUrl, print);
    if (args.forSeconds === null) await untilAborted(signal);
    else await sleep(args.forSeconds * 1_000, signal);
    await status.close();
  } finally {
    print.end();
    const stoppedAt = performance.now();
    await stack.close();
    print.line(`everything is stopped after ${((performance.now() - stoppedAt) / 1000).toFixed(1)} s`);
  }
  return 0;
});

async function welcome({ state, secrets, folders }: Stack, print: Printer): Promise<void> {
  const operator = await mintToken(secrets.jwtSecret, { sub: 'demo-operator', scope: 'operator' });
  const activityId = await print.step(
    'demo activity',
    (id) => `demo activity ${id} on sale: 100 places, pay within 60 s, reminder at 40 s`,
    () => createDemoActivity(state.apiUrl, operator),
  );
  const buyerToken = await mintToken(secrets.jwtSecret, { sub: 'demo-buyer' });
  print.line(welcomeText({ state, activityId, buyerToken, operatorToken: operator, dataDir: folders.data }));
}

async function sayRunning(print: Printer): Promise<void> {
  const running = await findRunningStack(stackFolders().stateFile);
  if (running) print.line(`Lapse runs on this folder already: ${running.apiUrl} (process ${running.pid}).`);
}
