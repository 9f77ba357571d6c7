import type { Closable } from './closable.ts';
import { createClosingStack } from './closing-stack.ts';
import { isConnectionError } from './connection-error.ts';
import { createLogger, type Logger } from './logger.ts';
import { showProcess } from './metrics.ts';
import type { ProcessConfig } from './settings.ts';
import { timeBox } from './time-box.ts';

/** What `start` gets. */
export interface ProcessContext {
  readonly log: Logger;
  /** Hand over something to be closed when the process stops, the last first. Returns it. */
  readonly own: <T extends Closable>(closable: T, name?: string) => T;
  /** Aborts when the process begins to stop; a start that waits for something looks at it. */
  readonly signal: AbortSignal;
}

const stopSignals = ['SIGTERM', 'SIGINT'] as const;

/**
 * Signals this close together are one request: Ctrl-C reaches the whole foreground group, and a parent that
 * passes it on must not thereby force its children.
 */
const sameRequestMs = 500;

/** A timer this long only keeps the process alive: not even a process without a socket ends unasked. */
const keepAliveMs = 3_600_000;

/**
 * The life of a process. `start` opens its parts; SIGTERM or SIGINT closes them in reverse order, each
 * in its own time box (`closeTimeoutMs`), all within `shutdownTimeoutMs`, and exits 0. A failed start
 * closes what it had opened and exits 1, and so does an error that nobody caught. A second signal, half
 * a second later or more, exits at once. The process always exits by itself: clients that were shut down may keep sockets and timers.
 *
 * Once stopping, connection errors from the background are logged and ignored: some clients raise them
 * right after their shutdown. close-with-grace was tried and left: any error while closing makes it exit.
 *
 * Resolves when `start` is through; the process then runs until it is stopped.
 */
export async function run(
  name: string,
  config: ProcessConfig,
  start: (context: ProcessContext) => Promise<void>,
): Promise<void> {
  const log = createLogger(name, config.logLevel);
  showProcess(name);
  const stack = createClosingStack(log, config.closeTimeoutMs);
  const stop = new AbortController();
  const keepAlive = setInterval(() => {}, keepAliveMs);
  let exitCode = 0;
  let firstSignalAt: number | undefined;
  let starting: Promise<void> = Promise.resolve();

  const shutDown = async (reason: string, code: number) => {
    exitCode = Math.max(exitCode, code);
    if (stop.signal.aborted) return;
    log.info({ reason }, 'stopping');
    setTimeout(() => {
      log.fatal({ open: stack.open(), ms: config.shutdownTimeoutMs }, 'stopping took too long; exiting');
      process.exit(1);
    }, config.shutdownTimeoutMs);
    stack.announce();
    stop.abort();
    await stack.closeAll();
    // A start still under way may open more, which must be closed as well.
    await timeBox(starting, config.closeTimeoutMs, 'the start').catch(() => {});
    await stack.closeAll();
    clearInterval(keepAlive);
    log.info({ exitCode }, 'stopped');
    process.exit(exitCode);
  };

  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now();
    if (firstSignalAt === undefined) {
      firstSignalAt = now;
      void shutDown(signal, 0);
    } else if (now - firstSignalAt >= sameRequestMs) {
      log.warn({ signal }, 'second signal; exiting at once');
      process.exit(1);
    }
  };
  const onUncaught = (error: unknown, origin: string) => {
    if (stop.signal.aborted && isConnectionError(error)) {
      log.warn({ err: error, origin }, 'a connection failed while stopping; ignored');
      return;
    }
    log.fatal({ err: asError(error), origin }, 'an error that nobody caught');
    void shutDown(origin, 1);
  };
  for (const signal of stopSignals) process.on(signal, onSignal);
  process.on('uncaughtException', onUncaught);
  process.on('unhandledRejection', (reason) => onUncaught(reason, 'unhandledRejection'));

  try {
    starting = start({ log, own: stack.own, signal: stop.signal });
    await starting;
    if (!stop.signal.aborted) log.info('started');
  } catch (error) {
    if (stop.signal.aborted) {
      log.warn({ err: asError(error) }, 'the start was interrupted');
    } else {
      log.fatal({ err: asError(error) }, 'the start failed');
      await shutDown('failed start', 1);
    }
  }
}

function asError(error: unknown): Error {
  return error instanceof Error
    ? error
    : new Error('something that is not an error was thrown', { cause: error });
}
