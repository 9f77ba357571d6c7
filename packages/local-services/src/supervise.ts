import { setTimeout as sleep } from 'node:timers/promises';
import { describeExit } from './become-ready.ts';
import type { LocalService, ServiceExit } from './local-service.ts';
import { LocalServiceError } from './local-service-error.ts';

export interface SuperviseOptions {
  /** A program of the service died by itself; it is about to be started again. */
  readonly onDown?: (service: LocalService, exit: ServiceExit) => void;
  /** All of it answers again. */
  readonly onUp?: (service: LocalService, attempt: number) => void;
  /** A restart failed or did not last; the next attempt follows, or none when `last` is true. */
  readonly onRestartFailed?: (service: LocalService, error: unknown, last: boolean) => void;
  readonly backOffMinMs?: number;
  readonly backOffMaxMs?: number;
  /** Restarts in a row that did not last; a service that stayed up longer starts counting anew. */
  readonly attemptsMax?: number;
}

function diedAgain(service: LocalService, exit: ServiceExit): LocalServiceError {
  const log = `Log: ${exit.logFile}, last lines:\n${exit.logTail || '(it wrote nothing)'}`;
  return new LocalServiceError(
    'LAPSE_SERVICE_START_FAILED',
    `${service.name} starts but does not last: ${exit.program} exited (${describeExit(exit)}) again.\n${log}`,
  );
}

/** A service that ran this long is well again. */
const settledAfterMs = 30_000;

/**
 * Keep a service running: when one of its programs dies by itself it is started again on the same
 * ports and data, after a pause that doubles with every attempt in a row. A stop that was asked for
 * is left alone.
 * @returns how to end it; a restart under way is not undone.
 */
export function supervise(service: LocalService, options: SuperviseOptions = {}): { stop(): void } {
  const { backOffMinMs = 200, backOffMaxMs = 10_000, attemptsMax = 10 } = options;
  const ended = new AbortController();
  let attempt = 0;
  let upSince = Date.now();
  let restarting = false;

  async function restart(): Promise<void> {
    restarting = true;
    try {
      while (!ended.signal.aborted && attempt < attemptsMax) {
        const pauseMs = Math.min(backOffMinMs * 2 ** attempt, backOffMaxMs);
        attempt += 1;
        await sleep(pauseMs, undefined, { signal: ended.signal });
        // Stopped, or started by somebody else, during the pause.
        if (service.state !== 'down') return;
        if (await startAgain()) return;
      }
    } catch {
      // Ended during the pause.
    } finally {
      restarting = false;
    }
  }

  /** @returns whether there is nothing left to do: it runs, or was stopped meanwhile. */
  async function startAgain(): Promise<boolean> {
    try {
      await service.start();
      upSince = Date.now();
      options.onUp?.(service, attempt);
      return true;
    } catch (error) {
      if (service.state !== 'down') return true;
      options.onRestartFailed?.(service, error, attempt >= attemptsMax || ended.signal.aborted);
      return false;
    }
  }

  const unsubscribe = service.onExit((exit) => {
    if (exit.expected || restarting) return;
    if (Date.now() - upSince > settledAfterMs) attempt = 0;
    options.onDown?.(service, exit);
    if (attempt >= attemptsMax) options.onRestartFailed?.(service, diedAgain(service, exit), true);
    else void restart();
  });
  return {
    stop: () => {
      unsubscribe();
      ended.abort();
    },
  };
}
