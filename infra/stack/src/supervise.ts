import { type OwnedProcess, type SpawnPlan, spawnOwned } from '@lapse/local-services';
import { backOffMs, type Closable, sleep } from '@lapse/runtime';
import type { Printer } from './print.ts';

export interface SupervisedApp extends Closable {
  readonly name: string;
  /** Process id of the present run; changes with every restart. */
  pid(): number;
  kill(signal: NodeJS.Signals): void;
}

export interface SupervisePlan {
  readonly spawn: SpawnPlan;
  /** Where the process says that it is ready: 200 on /readyz. */
  readonly readyUrl: string;
  readonly print: Printer;
}

const readyTimeoutMs = 60_000;
const readyPollMs = 100;
/** An app needs 5 s for its last long poll; then it is not stopping, it hangs. */
const stopGraceMs = 9_000;
const backOff = { minMs: 250, maxMs: 10_000 } as const;
/** Up for so long, a new death is a new story: the back-off starts again from the least. */
const healthyMs = 30_000;

/**
 * Start an app and wait until it is ready; from then on start it again, with back-off, whenever it
 * dies. An app that dies before it was ever ready is not tried again: its configuration is at fault.
 * @throws {Error} with the last lines of its log, when it never became ready.
 */
export async function supervise({ spawn, readyUrl, print }: SupervisePlan): Promise<SupervisedApp> {
  const stopping = new AbortController();
  let current = spawnOwned(spawn);
  try {
    await waitReady(current, readyUrl, stopping.signal);
  } catch (error) {
    await current.stop(stopGraceMs);
    throw error;
  }
  const watch = keepRunning();

  async function keepRunning(): Promise<void> {
    let attempt = 0;
    while (!stopping.signal.aborted) {
      const upSince = Date.now();
      const exit = await current.exit;
      if (stopping.signal.aborted) return;
      attempt = Date.now() - upSince > healthyMs ? 1 : attempt + 1;
      const waitMs = backOffMs(attempt, backOff);
      const how = exit.signal ? `was ended by ${exit.signal}` : `stopped with exit code ${exit.code}`;
      print.warn(
        `${spawn.name} ${how}; starting it again in ${(waitMs / 1000).toFixed(1)} s (${current.logFile})`,
      );
      await sleep(waitMs, stopping.signal);
      if (stopping.signal.aborted) return;
      current = spawnOwned(spawn);
      await waitReady(current, readyUrl, stopping.signal).then(
        () => stopping.signal.aborted || print.warn(`${spawn.name} is ready again (pid ${current.pid})`),
        // Dead again, or slow: the loop sees which.
        () => {},
      );
    }
  }

  return {
    name: spawn.name,
    pid: () => current.pid,
    kill: (signal) => current.signal(signal),
    async close() {
      stopping.abort();
      await current.stop(stopGraceMs);
      await watch;
      // A restart that was under way when the stop came.
      await current.stop(stopGraceMs);
    },
  };
}

async function waitReady(app: OwnedProcess, readyUrl: string, stopped: AbortSignal): Promise<void> {
  const deadline = Date.now() + readyTimeoutMs;
  while (!stopped.aborted) {
    if (app.exited) throw new Error(`${app.name} stopped before it was ready:\n${app.logTail()}`);
    if (await answersOk(readyUrl)) return;
    if (Date.now() > deadline) {
      throw new Error(`${app.name} was not ready within ${readyTimeoutMs / 1000} s:\n${app.logTail()}`);
    }
    await sleep(readyPollMs, stopped);
  }
}

async function answersOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
