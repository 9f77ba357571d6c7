import type { Pausable } from '@lapse/runtime';

/** How something is paused that cannot stop at once. */
export interface PauseSteps {
  /** Take nothing new, and wait until little enough is in hand. Ends early when the signal aborts: it is to go on. */
  readonly drain: (signal: AbortSignal) => Promise<void>;
  /** Finish what is at work, and give back the rest. Its time is bounded by that of the work. */
  readonly giveBack: () => Promise<void>;
  /** Take again, from whichever step. */
  readonly goOn: () => void;
}

export interface PauseControl extends Pausable {
  /** Go on for good: a close follows. Resolves when no step runs any more. */
  end(): Promise<void>;
}

/**
 * Follows what is wanted, one step after the other, however often that changes: a resume cuts the wait short, and a
 * pause right after it drains anew.
 */
export function createPause({ drain, giveBack, goOn }: PauseSteps): PauseControl {
  let isWanted = false;
  let isDrained = false;
  let hasEnded = false;
  let changed = new AbortController();
  let isFollowing = false;
  let following = Promise.resolve();

  async function follow(): Promise<void> {
    isFollowing = true;
    while (isWanted !== isDrained) {
      changed = new AbortController();
      const { signal } = changed;
      if (isWanted) await drain(signal);
      if (isWanted && !signal.aborted) {
        await giveBack();
        isDrained = true;
      } else {
        goOn();
        isDrained = false;
      }
    }
    isFollowing = false;
  }

  function want(pause: boolean): void {
    if (hasEnded || isWanted === pause) return;
    isWanted = pause;
    changed.abort();
    if (!isFollowing) following = follow();
  }

  return {
    pause: () => want(true),
    resume: () => want(false),
    isDrained: () => isWanted && isDrained,
    end: async () => {
      want(false);
      hasEnded = true;
      await following;
    },
  };
}
