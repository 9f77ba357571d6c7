import { build } from 'hdr-histogram-js';

/** Milliseconds. */
export interface Latencies {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** An hour, in the unit that is recorded: microseconds, so that a fraction of a millisecond counts. */
const highestUs = 3_600_000_000;
const usPerMs = 1_000;

export interface LatencyRecorder {
  readonly record: (ms: number, times?: number) => void;
  readonly read: () => Latencies;
}

/** A histogram with three digits, whatever the range. Zeros when nothing was recorded. */
export function createLatencies(): LatencyRecorder {
  const histogram = build({
    bitBucketSize: 64,
    highestTrackableValue: highestUs,
    numberOfSignificantValueDigits: 3,
  });
  // A bucket answers with its upper end, which nothing may have reached.
  const ms = (us: number): number => Math.min(us, highest) / usPerMs;
  let highest = 0;
  return {
    record: (value, times = 1) => {
      const us = Math.min(highestUs, Math.round(value * usPerMs));
      highest = Math.max(highest, us);
      histogram.recordValueWithCount(us, times);
    },
    read: () => ({
      count: histogram.totalCount,
      p50: ms(histogram.getValueAtPercentile(50)),
      p99: ms(histogram.getValueAtPercentile(99)),
      max: ms(highest),
    }),
  };
}
