import { readFile, rm, writeFile } from 'node:fs/promises';

/** What a running `npm start` tells others on this machine: `npm run demo`, and a second start. */
export interface StackState {
  readonly pid: number;
  readonly startedAt: string;
  readonly apiUrl: string;
  /** The page for buyers and operators; null where it does not run. */
  readonly pageUrl: string | null;
  /** Address of the payment simulator: its pages are at /pay/REFERENCE. */
  readonly simulatorUrl: string;
  readonly mysqlUrl: string;
  readonly redisUrl: string;
  readonly rocketmqEndpoints: string;
  readonly rocketmqNamesrv: string | null;
  readonly topicPrefix: string;
  readonly opsUrls: Readonly<Record<string, string>>;
}

export async function writeState(file: string, state: StackState): Promise<void> {
  // For its owner alone: the MySQL address may hold a password.
  await writeFile(file, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
}

export async function removeState(file: string): Promise<void> {
  await rm(file, { force: true });
}

/**
 * The stack that runs on this folder now; undefined when there is none. A file left by a killed
 * start is told apart by its API, which no longer answers.
 */
export async function findRunningStack(file: string): Promise<StackState | undefined> {
  try {
    const state = JSON.parse(await readFile(file, 'utf8')) as StackState;
    process.kill(state.pid, 0);
    const response = await fetch(`${state.apiUrl}/openapi.json`, { signal: AbortSignal.timeout(2_000) });
    await response.body?.cancel();
    return response.ok ? state : undefined;
  } catch {
    return undefined;
  }
}
