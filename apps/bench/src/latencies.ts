import { build, type Histogram } from 'hdr-histogram-js';
import { z } from 'zod';

/** Milliseconds. */
export const latencies = z.strictObject({
  count: z.int().min(0),
  p50: z.number(),
  p99: z.number(),
  max: z.number(),
  /** The distribution, for a plot: `[ms, share]` says that this share (0 to 1) took at most so long. Rising in both. */
  cdf: z.array(z.tuple([z.number(), z.number()])),
});
export type Latencies = z.infer<typeof latencies>;

/** An hour, in the unit that is recorded: microseconds, so that a fraction of a millisecond counts. */
const highestUs = 3_600_000_000;
const usPerMs = 1_000;
/** Every fortieth, and the tail more finely: 46 points at most, whatever was recorded. */
const shares = [
  ...Array.from({ length: 40 }, (_, index) => index / 40),
  0.99,
  0.995,
  0.999,
  0.9995,
  0.9999,
  1,
];

export interface LatencyRecorder {
  readonly record: (ms: number, times?: number) => void;
  readonly read: () => Latencies;
}

/** A histogram with three digits, whatever the range. Zeros and no distribution when nothing was recorded. */
export function createLatencies(): LatencyRecorder {
  const histogram = build({
    bitBucketSize: 64,
    highestTrackableValue: highestUs,
    numberOfSignificantValueDigits: 3,
  });
  let highest = 0;
  return {
    record: (value, times = 1) => {
      const us = Math.min(highestUs, Math.round(value * usPerMs));
      highest = Math.max(highest, us);
      histogram.recordValueWithCount(us, times);
    },
    read: () => ({
      count: histogram.totalCount,
      p50: msAt(histogram, 0.5, highest),
      p99: msAt(histogram, 0.99, highest),
      max: highest / usPerMs,
      cdf: distribution(histogram, highest),
    }),
  };
}

/** A bucket answers with its upper end, which nothing may have reached. */
function msAt(histogram: Histogram, share: number, highest: number): number {
  return Math.min(histogram.getValueAtPercentile(share * 100), highest) / usPerMs;
}

/** Of points at the same time only the lowest and the highest share: the ends of a step. */
function distribution(histogram: Histogram, highest: number): [number, number][] {
  if (histogram.totalCount === 0) return [];
  const points = shares.map((share): [number, number] => [msAt(histogram, share, highest), share]);
  return points.filter(([ms], index) => points[index - 1]?.[0] !== ms || points[index + 1]?.[0] !== ms);
}
