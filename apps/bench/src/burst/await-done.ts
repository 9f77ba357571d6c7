import { sleep } from '@lapse/runtime';

/** Orders that are done, by each store that has to know of it. */
type Done = Readonly<Record<string, number>>;

export interface DoneAt {
  /** When all was seen to be done, or the last look. */
  readonly atMs: number;
  readonly done: Done;
  readonly isWhole: boolean;
}

/** A look costs a contender's stores 0.1 ms: at most every hundredth of the time that has passed. */
const lookShare = 0.01;
const lookMs = { min: 5, max: 250 } as const;

/**
 * Watch from outside until all orders are done in every store, or nothing has moved for `stallMs`.
 * The time is that of the look which saw it: late by at most a hundredth.
 */
export async function awaitDone(
  look: () => Promise<Done>,
  { orders, dueAtMs }: { readonly orders: number; readonly dueAtMs: number },
  stallMs: number,
  signal: AbortSignal,
): Promise<DoneAt> {
  let seen = '';
  let movedAtMs = Math.max(Date.now(), dueAtMs);
  for (;;) {
    const done = await look();
    const atMs = Date.now();
    const isWhole = Object.values(done).every((count) => count >= orders);
    if (seen !== JSON.stringify(done)) movedAtMs = Math.max(movedAtMs, atMs);
    seen = JSON.stringify(done);
    if (isWhole || atMs - movedAtMs >= stallMs || signal.aborted) return { atMs, done, isWhole };
    const share = (atMs - dueAtMs) * lookShare;
    await sleep(Math.min(lookMs.max, Math.max(lookMs.min, share)), signal);
  }
}
