export interface FakeClock {
  /** Milliseconds since 1970, standing still until told otherwise. Usable as any `now: () => number`. */
  readonly now: () => number;
  readonly advance: (ms: number) => void;
  readonly set: (ms: number) => void;
}

/** A clock that only the test moves. The database keeps its own: what is due is never faked. */
export function createFakeClock(startMs: number = Date.UTC(2030, 0, 1)): FakeClock {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    advance: (ms) => {
      nowMs += ms;
    },
    set: (ms) => {
      nowMs = ms;
    },
  };
}
