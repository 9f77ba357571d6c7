/** A run that is to come. */
export interface ExpectedRun {
  /** Runs of the same name take about as long as each other. */
  readonly name: string;
  /** What it is thought to take until one of its name has ended. */
  readonly seconds: number;
}

/** How long it will still take, from estimates that give way to what the finished runs took. */
export interface Progress {
  /** The next run begins. @returns the line to show. */
  readonly begin: (what: string) => string;
  /** It has ended. */
  readonly end: () => void;
}

/**
 * @param runs in their order.
 * @param now a clock in milliseconds.
 */
export function createProgress(
  runs: readonly ExpectedRun[],
  now: () => number = () => performance.now(),
): Progress {
  const taken = new Map<string, number>();
  let done = 0;
  let [expected, spent] = [0, 0];
  let beganAtMs = now();
  // Until something has ended the estimates are all there is; then they are as wrong as those of the finished runs.
  const secondsOf = ({ name, seconds }: ExpectedRun): number =>
    taken.get(name) ?? seconds * (expected === 0 ? 1 : spent / expected);
  return {
    begin: (what) => {
      beganAtMs = now();
      const left = runs.slice(done).reduce((sum, run) => sum + secondsOf(run), 0);
      return `[${done + 1}/${runs.length}] ${what}, ${readable(left)} left`;
    },
    end: () => {
      const seconds = (now() - beganAtMs) / 1_000;
      const run = runs[done];
      if (run) taken.set(run.name, seconds);
      expected += run?.seconds ?? 0;
      spent += seconds;
      done += 1;
    },
  };
}

/** Of seconds: "2 min 5 s". */
function readable(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const minutes = Math.floor(whole / 60);
  return minutes === 0 ? `${whole} s` : `${minutes} min ${whole % 60} s`;
}
