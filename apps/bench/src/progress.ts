/** How long it will still take, from estimates that are corrected by what the finished runs took. */
export interface Progress {
  /** A run begins. @returns the line to show. */
  begin(what: string): string;
  /** It has ended; `seconds` is what was expected of it. */
  end(seconds: number): void;
}

/** Of seconds: "2 min 5 s". */
function readable(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const minutes = Math.floor(whole / 60);
  return minutes === 0 ? `${whole} s` : `${minutes} min ${whole % 60} s`;
}

/**
 * @param expected seconds of each run, in their order.
 * @param now a clock in milliseconds.
 */
export function createProgress(
  expected: readonly number[],
  now: () => number = () => performance.now(),
): Progress {
  const startedAtMs = now();
  let [done, doneSeconds] = [0, 0];
  return {
    begin: (what) => {
      const spent = (now() - startedAtMs) / 1_000;
      const left = expected.slice(done).reduce((sum, seconds) => sum + seconds, 0);
      // Until something has ended the estimates are all there is.
      const pace = doneSeconds === 0 ? 1 : spent / doneSeconds;
      return `[${done + 1}/${expected.length}] ${what}, ${readable(left * pace)} left`;
    },
    end: (seconds) => {
      done += 1;
      doneSeconds += seconds;
    },
  };
}
