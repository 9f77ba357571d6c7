import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, lockFolder, reapLeftovers } from '@lapse/local-services';
import type { Closable } from '@lapse/runtime';
import { appNames, consoleEnv, sharedAppEnv } from './app-env.ts';
import type { StartArgs } from './args.ts';
import { checkSettings } from './check-settings.ts';
import { resetCompose } from './compose.ts';
import { writeDevEnv } from './dev-env.ts';
import { rootDir, type StackFolders, stackFolders } from './folders.ts';
import { linkServiceLogs } from './link-logs.ts';
import { type Apps, openApps } from './open-apps.ts';
import { prepareStores } from './prepare.ts';
import type { Printer } from './print.ts';
import { type DemoSecrets, readSecrets } from './secrets.ts';
import { openServices, type StackServices } from './services.ts';
import { removeState, type StackState, writeState } from './state-file.ts';

export interface Stack extends Closable {
  readonly state: StackState;
  readonly secrets: DemoSecrets;
  readonly folders: StackFolders;
  /** SIGKILL to every child, for a person who cannot wait. */
  kill(): void;
}

export interface StackOptions {
  readonly args: StartArgs;
  /** The page as well. */
  readonly withPage: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly print: Printer;
  /** Cuts the start short: everything that came up by then is stopped, and the start rejects. */
  readonly signal: AbortSignal;
}

const simulatorPortPreferred = 8_090;
const consolePortPreferred = 8_088;

/** The whole stop has 20 s: what still runs then is killed. */
const stopMsMax = 19_000;

/**
 * Bring up services, schema, topics and apps of this folder. One start at a time: a second one is
 * told who holds the folder. What a killed start left running is stopped first.
 */
export async function openStack({ args, withPage, env, print, signal }: StackOptions): Promise<Stack> {
  // Before anything starts: a misspelt or wrong setting is known at once, not when the apps refuse it.
  await checkSettings(env);
  const folders = stackFolders();
  const lock = lockFolder(folders.data);
  let services: StackServices | undefined;
  let apps: Apps | undefined;
  const kill = (): void => {
    apps?.kill();
    services?.kill();
  };
  const close = async (): Promise<void> => {
    const late = setTimeout(() => {
      print.warn(
        'stopping took long; killing what is left (what was acknowledged is on disk in every store)',
      );
      kill();
    }, stopMsMax);
    // Apps first: a drain needs its broker. Then all services side by side.
    if (apps) await print.step('stopping the apps', 'apps stopped', apps.close);
    if (services)
      await print.step(
        'stopping the services (RocketMQ takes 10 to 15 s)',
        'services stopped',
        services.close,
      );
    clearTimeout(late);
    await removeState(folders.stateFile);
    lock.release();
  };
  try {
    await cleanUp(folders, args.reset, print);
    services = await openServices({
      choice: args.services,
      root: rootDir,
      dir: folders.data,
      env,
      print,
      signal,
    });
    signal.throwIfAborted();
    linkServiceLogs(folders);
    const secrets = await readSecrets(folders.secretsFile, env);
    const choosePort = (preferred: number) => freePort(preferred, (line) => print.line(`  ${line}`));
    const httpPort = await choosePort(args.port);
    const simulatorPort = await choosePort(simulatorPortPreferred);
    const simulator = { port: simulatorPort, dir: folders.simulator };
    const consolePort = withPage ? await choosePort(consolePortPreferred) : null;
    const appEnv = {
      ...sharedAppEnv(env, services, secrets, httpPort, simulator),
      ...(consolePort !== null && { ...consoleEnv(secrets, { httpPort, consolePort }), ...givenPayUrl(env) }),
    };
    await writeDevEnv(folders.data, appEnv);
    await prepareStores(appEnv, folders.logs, print);
    signal.throwIfAborted();
    if (args.apps) {
      const names = appNames({ withPage });
      apps = await openApps({ names, root: rootDir, logs: folders.logs, env: appEnv, print, signal });
    }
    signal.throwIfAborted();
    const state = stackState(
      services,
      apps,
      { httpPort, simulatorPort, consolePort },
      appEnv.LAPSE_ROCKETMQ_TOPIC_PREFIX,
    );
    await writeState(folders.stateFile, state);
    return { state, secrets, folders, kill, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A person's own link in reminders goes before the page's. */
function givenPayUrl({ LAPSE_PAY_URL }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return LAPSE_PAY_URL === undefined ? {} : { LAPSE_PAY_URL };
}

async function cleanUp(folders: StackFolders, reset: boolean, print: Printer): Promise<void> {
  const left = await reapLeftovers(folders.data, { log: print.warn });
  if (left.length > 0) print.line(`stopped ${left.length} processes of a start that was killed`);
  if (reset) {
    await resetCompose(rootDir);
    wipe(folders.data);
    print.line(`wiped ${folders.data}`);
  }
  mkdirSync(folders.logs, { recursive: true });
}

/** Everything but the lock, which this process holds. */
function wipe(dir: string): void {
  for (const name of readdirSync(dir)) {
    if (name !== lockName) rmSync(join(dir, name), { recursive: true, force: true });
  }
}

const lockName = 'lock.json';

function stackState(
  services: StackServices,
  apps: Apps | undefined,
  ports: { readonly httpPort: number; readonly simulatorPort: number; readonly consolePort: number | null },
  topicPrefix = '',
): StackState {
  return {
    pid: process.pid,
    startedAt: new Date().toISOString(),
    apiUrl: `http://127.0.0.1:${ports.httpPort}`,
    pageUrl: ports.consolePort === null ? null : `http://127.0.0.1:${ports.consolePort}`,
    simulatorUrl: `http://127.0.0.1:${ports.simulatorPort}`,
    mysqlUrl: services.mysqlUrl,
    redisUrl: services.redisUrl,
    rocketmqEndpoints: services.rocketmqEndpoints,
    rocketmqNamesrv: services.rocketmqNamesrv,
    topicPrefix,
    opsUrls: apps?.opsUrls ?? {},
  };
}
