/** The middle of the values in order; of an even number, the mean of the two in the middle. NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  const upper = sorted[Math.floor(half)] ?? Number.NaN;
  return Number.isInteger(half) ? ((sorted[half - 1] ?? Number.NaN) + upper) / 2 : upper;
}

export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** (max - min) / median: 0.1 means that all rounds lie within a tenth. 0 of one round. */
  readonly spread: number;
}

/** Median and spread of one figure over the rounds. Undefined of none: there is no figure then. */
export function summarise(values: readonly number[]): Summary | undefined {
  if (values.length === 0) return undefined;
  const [min, max, middle] = [Math.min(...values), Math.max(...values), median(values)];
  return { median: middle, min, max, spread: middle === 0 ? 0 : (max - min) / middle };
}

/**
 * How one contender compares with another: the ratio of each round in which both have a figure, summarised. Rates of
 * a shared machine swing by the minute, and the two of a round are neighbours; medians taken apart are not.
 * @param base, other figures by round; undefined where a run has none.
 */
export function ratioByRound(
  other: readonly (number | undefined)[],
  base: readonly (number | undefined)[],
): Summary | undefined {
  return summarise(
    other.flatMap((value, round) => {
      const against = base[round];
      return value === undefined || against === undefined || against === 0 ? [] : [value / against];
    }),
  );
}
