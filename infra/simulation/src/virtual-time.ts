import type { Random } from './random.ts';
import type { Scheduler, Timer } from './scheduler.ts';

/** Milliseconds on the monotonic clock when a run begins. */
const monotonicStartMs = 1_000;

/**
 * Put the scheduler in the place of timers, clocks and chance, until the returned function puts the real ones
 * back. The decisions under test use them directly, and are not changed for the simulation.
 *
 * `performance.now` is true for everybody: the seconds of a monotonic clock are not skewed. `Date.now` is the wall
 * clock of the machine of whoever runs now, up to minutes off: a decision that believes it is found out.
 */
export function installVirtualTime(scheduler: Scheduler, random: Random): () => void {
  const real = {
    setTimeout: globalThis.setTimeout,
    clearTimeout: globalThis.clearTimeout,
    performanceNow: performance.now,
    Date: globalThis.Date,
    random: Math.random,
  };
  const startMs = scheduler.now();
  const wallNow = (): number => scheduler.now() + (scheduler.current()?.wallSkewMs ?? 0);

  globalThis.setTimeout = ((run: (...args: unknown[]) => void, delayMs = 0, ...args: unknown[]) =>
    // A timer of Node fires after at least 1 ms.
    toNodeTimer(
      scheduler.after(Math.max(1, delayMs), scheduler.current(), () => run(...args)),
    )) as unknown as typeof setTimeout;
  globalThis.clearTimeout = ((timer: (Timer & object) | undefined) => {
    if (timer && 'virtual' in timer) (timer as VirtualTimer).virtual.cancelled = true;
  }) as unknown as typeof clearTimeout;
  performance.now = () => scheduler.now() - startMs + monotonicStartMs;
  globalThis.Date = new Proxy(real.Date, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [wallNow()] : args, newTarget),
    get: (target, property) => (property === 'now' ? wallNow : Reflect.get(target, property)),
  });
  Math.random = random.next;

  return () => {
    globalThis.setTimeout = real.setTimeout;
    globalThis.clearTimeout = real.clearTimeout;
    performance.now = real.performanceNow;
    globalThis.Date = real.Date;
    Math.random = real.random;
  };
}

interface VirtualTimer {
  readonly virtual: Timer;
}

/** What code asks of a timer beside clearing it. */
function toNodeTimer(virtual: Timer): VirtualTimer & { ref(): object; unref(): object; hasRef(): boolean } {
  const timer = { virtual, ref: () => timer, unref: () => timer, hasRef: () => true };
  return timer;
}
