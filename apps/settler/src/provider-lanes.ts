import { workInLanes } from '@lapse/runtime';

/** One after another this many failures end a run: a provider that is away is not asked for each thing that is due. */
const failuresInARowMax = 16;

export interface LaneOptions<T> {
  readonly jobs: readonly T[];
  /** Most calls to the provider at once. */
  readonly atOnceMax: number;
  readonly signal: AbortSignal;
  /** @returns false when the provider did not answer. Must not throw but for a store. */
  readonly work: (job: T) => Promise<boolean>;
  /** A job that is not begun: the provider is away, or the process is stopping. */
  readonly handBack: (job: T) => Promise<void>;
}

/**
 * Work through claimed jobs, a bounded number at once. Ends early when the provider is plainly away.
 * @returns whether it was there to the end.
 */
export async function runLanes<T>({
  jobs,
  atOnceMax,
  signal,
  work,
  handBack,
}: LaneOptions<T>): Promise<boolean> {
  let failuresInARow = 0;
  try {
    await workInLanes(jobs, atOnceMax, async (job) => {
      if (signal.aborted || failuresInARow >= failuresInARowMax) await handBack(job);
      else failuresInARow = (await work(job)) ? 0 : failuresInARow + 1;
    });
  } catch (cause) {
    throw new Error('what the provider answered could not be written down', { cause });
  }
  return failuresInARow < failuresInARowMax;
}
