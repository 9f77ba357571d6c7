import { sleep } from '@lapse/runtime';
import type { DueQueue } from './due-queue.ts';

const checkEveryMs = 10;

/**
 * Wait until nothing in the queue is due before `endsAtMs` (monotonic), nor in the handler's hands. Ends early when
 * the signal aborts.
 */
export async function waitForDue<V>(
  queue: DueQueue<V>,
  now: () => number,
  endsAtMs: number,
  signal?: AbortSignal,
): Promise<void> {
  for (let leftMs = endsAtMs - performance.now(); leftMs > 0; leftMs = endsAtMs - performance.now()) {
    if (signal?.aborted) return;
    const nextAt = queue.nextDueAt();
    const idle = nextAt === undefined ? queue.size() === 0 : nextAt - now() > leftMs;
    if (idle) return;
    await sleep(Math.min(checkEveryMs, leftMs), signal);
  }
}

/** Wait for work that may hang, until `endsAtMs` (monotonic) at the latest. @returns whether it ended. */
export async function waitUntilTime(work: Promise<unknown>, endsAtMs: number): Promise<boolean> {
  const waiting = new AbortController();
  const ended = work.then(
    () => true,
    () => true,
  );
  const late = sleep(endsAtMs - performance.now(), waiting.signal).then(() => false);
  const result = await Promise.race([ended, late]);
  waiting.abort();
  return result;
}

/** Wait for work that may hang, until the signal aborts at the latest. */
export async function waitUntilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = () => resolve();
    signal.addEventListener('abort', end, { once: true });
    work.then(end, end);
  });
}
