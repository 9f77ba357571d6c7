import { sleep } from '@lapse/runtime';

/** A buyer's place in an activity. */
interface Place {
  readonly activityId: number;
  readonly userId: string;
}

export interface InFlight {
  /** Note that this process is writing an order of this buyer here, until `write` settles. */
  track<T>(place: Place, write: Promise<T>): Promise<T>;
  /**
   * Wait for this process's own write for this buyer, if there is one, else a short while: then it is
   * another process that writes. At most `msMax`.
   */
  wait(place: Place, attempt: number, msMax: number): Promise<void>;
}

/** Pauses between looks at what another process does: short at first, since a write takes milliseconds. */
const pauseMs = { min: 10, max: 200 };

/**
 * Fifty clicks on one button wait for one write here, instead of asking MySQL fifty times over and over.
 * Bounded by the requests that are being served; entries leave when their write settles.
 */
export function createInFlight(): InFlight {
  const writes = new Map<string, Promise<unknown>>();
  return {
    track: (place, write) => {
      const key = keyOf(place);
      const leave = (): void => {
        if (writes.get(key) === settled) writes.delete(key);
      };
      const settled = write.then(leave, leave);
      writes.set(key, settled);
      return write;
    },
    wait: async (place, attempt, msMax) => {
      const write = writes.get(keyOf(place));
      if (!write) return sleep(Math.min(msMax, pauseMs.max, pauseMs.min * 2 ** attempt));
      const timeout = new AbortController();
      await Promise.race([write, sleep(msMax, timeout.signal)]);
      timeout.abort();
    },
  };
}

function keyOf({ activityId, userId }: Place): string {
  return `${activityId}:${userId}`;
}
