import type { Closable } from './closable.ts';
import type { Logger } from './logger.ts';
import type { Pausable } from './pausable.ts';
import { sleep } from './sleep.ts';

export interface RepeatOptions {
  readonly name: string;
  /** From the start of one run to the start of the next; a longer run is followed by the next at once. */
  readonly everyMs: number;
  /** The signal aborts when the process begins to stop: a long task looks at it between its steps. */
  readonly task: (signal: AbortSignal) => Promise<void>;
  readonly log: Logger;
}

export interface Repeat extends Closable, Pausable {
  /** Run now instead of at the next turn; while a run is going on, once more right after it. */
  wake(): void;
  stopping(): void;
}

/**
 * Run a task now, and again every `everyMs`. Runs never overlap. A failing run is logged, once per
 * change of its message, and the loop goes on. When the process begins to stop no new run starts, and the run in
 * progress is told, so that it takes no more work while other parts still close. `close` waits for that run.
 * Paused, it finishes the run in progress and begins no other; resumed, it runs at once.
 */
export function repeat({ name, everyMs, task, log }: RepeatOptions): Repeat {
  const stop = new AbortController();
  let waker = new AbortController();
  let lastFault: string | undefined;
  let isPaused = false;
  let isRunning = false;

  const runOnce = async () => {
    isRunning = true;
    try {
      await task(stop.signal);
      if (lastFault !== undefined) log.info({ task: name }, 'task works again');
      lastFault = undefined;
    } catch (error) {
      if (stop.signal.aborted) return log.debug({ task: name, err: error }, 'task ended by closing');
      const fault = error instanceof Error ? error.message : String(error);
      if (fault !== lastFault) log.error({ task: name, err: error }, 'task failed; trying again');
      lastFault = fault;
    } finally {
      isRunning = false;
    }
  };

  const loop = async () => {
    while (!stop.signal.aborted) {
      waker = new AbortController();
      if (isPaused) {
        await sleep(Number.POSITIVE_INFINITY, waker.signal);
        continue;
      }
      const startedAt = performance.now();
      await runOnce();
      if (stop.signal.aborted) return;
      const waitMs = everyMs - (performance.now() - startedAt);
      // A wait of zero still goes through the event loop, so that a slow task starves nobody.
      await sleep(waitMs, waker.signal);
    }
  };

  const running = loop();
  const end = (): void => {
    stop.abort();
    waker.abort();
  };
  return {
    wake: () => waker.abort(),
    pause: () => {
      isPaused = true;
    },
    resume: () => {
      if (!isPaused) return;
      isPaused = false;
      waker.abort();
    },
    isDrained: () => isPaused && !isRunning,
    stopping: end,
    close: () => {
      end();
      return running;
    },
  };
}
