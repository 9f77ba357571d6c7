import { format } from 'node:util';
import type { Logger } from '@lapse/runtime';

/** The client repeats one complaint thousands of times a second while the proxy is away. */
const repeatAfterMs = 60_000;
/** Its messages come from a few dozen templates; beyond this many something else is going on. */
const templatesMax = 200;

/** What rocketmq-client-nodejs asks of a logger. Without one it writes files under the home folder. */
export interface ClientLogger {
  info(...args: unknown[]): void;
  warn(...args: unknown[]): void;
  error(...args: unknown[]): void;
  debug(...args: unknown[]): void;
}

/**
 * Our log as the client's. What the client calls info is detail to an operator, hence debug. What it calls
 * an error also reaches us as a rejected call, so it is a warning, once a minute for each template.
 */
export function createClientLogger(log: Logger): ClientLogger {
  const lastAt = new Map<string, number>();

  function debug(...args: unknown[]): void {
    if (log.isLevelEnabled('debug')) log.debug(format(...args));
  }

  function error(...args: unknown[]): void {
    const template = typeof args[0] === 'string' ? args[0] : 'error';
    const nowMs = performance.now();
    const last = lastAt.get(template);
    const isRepeat = last === undefined ? lastAt.size >= templatesMax : nowMs - last < repeatAfterMs;
    if (isRepeat) {
      debug(...args);
      return;
    }
    lastAt.set(template, nowMs);
    log.warn(format(...args));
  }

  return { info: debug, warn: debug, error, debug };
}
