import { readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { sleep } from '@lapse/runtime';

/** Threads that run or wait for a core, on average of the last looks: with more of them nothing more begins. */
const runningPerCoreMax = 3;
/** Some seconds of looks: the system's own average of a minute shows a package long after the next has begun. */
const looksMax = 20;
/** One alone may meet a moment in which everybody waits. */
const looksMin = 4;
const lookEveryMs = 500;

/** Begins the work, of about so many seconds, when there is room, and settles as it does. */
export type TestGate = (seconds: number, work: () => Promise<void>) => Promise<void>;

/**
 * Lets packages begin one after the other, and none while the machine is full, so that a slow one has fewer at once: with
 * four of them the processes of a shop took over a minute to start there, and their test timed out. What runs is never
 * stopped, and something always runs. Once aborted everything passes: whoever comes through looks at the signal.
 */
export function openTestGate(signal: AbortSignal, readRunning = countRunning): TestGate {
  const runningMax = runningPerCoreMax * availableParallelism();
  const looks: number[] = [];
  /** Until what has begun shows; what is over sooner need not. */
  let looksWanted = looksMin;
  let begun = 0;
  let turn: Promise<void> = Promise.resolve();

  const isFull = (): boolean => {
    if (looks.push(readRunning()) > looksMax) looks.shift();
    const mean = looks.reduce((sum, running) => sum + running, 0) / looks.length;
    return looks.length < looksWanted || mean > runningMax;
  };

  async function waitForRoom(): Promise<void> {
    looks.length = 0;
    while (begun > 0 && isFull() && !signal.aborted) await sleep(lookEveryMs, signal);
  }

  return async (seconds, work) => {
    turn = turn.then(waitForRoom).then(() => {
      begun += 1;
      looksWanted = Math.min(Math.max(Math.ceil((seconds * 1_000) / lookEveryMs), looksMin), looksMax);
    });
    await turn;
    try {
      await work();
    } finally {
      begun -= 1;
    }
  };
}

/** How many run or wait at this moment; where the system does not tell (it is Linux that does), its average of a minute. */
function countRunning(): number {
  try {
    const [, running] = /(\d+)\/\d+/.exec(readFileSync('/proc/loadavg', 'utf8')) ?? [];
    return Number(running);
  } catch {
    return loadavg()[0] ?? 0;
  }
}
