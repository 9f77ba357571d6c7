import { z } from 'zod';

/** RocketMQ 4.x delay levels 1 to 18, in milliseconds: level N is at index N - 1. */
export const delayLevelsMs = [
  1_000, 5_000, 10_000, 30_000, 60_000, 120_000, 180_000, 240_000, 300_000, 360_000, 420_000, 480_000,
  540_000, 600_000, 1_200_000, 1_800_000, 3_600_000, 7_200_000,
] as const;

const unitsMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Read a duration: milliseconds (`600000`), a number with a unit (`10m`, `90s`, `1.5h`), or a delay level
 * of RocketMQ 4.x (`level:14` is 10 minutes; `level:13` is 9).
 * @returns whole milliseconds, or undefined when the text is none of these.
 */
export function parseDurationMs(input: string | number): number | undefined {
  const text = String(input).trim();
  const level = /^level:(\d{1,2})$/.exec(text);
  if (level) return delayLevelsMs[Number(level[1]) - 1];
  const parts = /^(\d{1,15}(?:\.\d{1,6})?)(ms|s|m|h|d)?$/.exec(text);
  if (!parts) return undefined;
  const ms = Number(parts[1]) * unitsMs[(parts[2] ?? 'ms') as keyof typeof unitsMs];
  return Number.isSafeInteger(ms) ? ms : undefined;
}

const durationFault =
  'must be a duration: 600000 (ms), "10m", "90s", or a delay level such as "level:14" (10 minutes)';

const unitWords = [
  ['day', unitsMs.d],
  ['hour', unitsMs.h],
  ['minute', unitsMs.m],
  ['second', unitsMs.s],
  ['millisecond', unitsMs.ms],
] as const;

/** A limit in words, in the largest unit that fits it: `30 days`. */
function inWords(ms: number): string {
  const [word, size] = unitWords.find(([, unitMs]) => ms > 0 && ms % unitMs === 0) ?? unitWords[4];
  return `${ms / size} ${word}${ms === size ? '' : 's'}`;
}

/**
 * A duration in API bodies; comes out as whole milliseconds from `minMs` to `maxMs`.
 * @param what what it is for, as the API's description says it.
 */
export function durationMs(minMs: number, maxMs: number, what: string) {
  return z
    .union([z.number(), z.string()], durationFault)
    .meta({ examples: ['10m', 600_000, 'level:14'] })
    .transform((input, context) => {
      const ms = parseDurationMs(input);
      if (ms === undefined) {
        context.addIssue({ code: 'custom', message: durationFault });
        return z.NEVER;
      }
      return ms;
    })
    .pipe(
      z
        .int()
        .min(minMs, `must be at least ${inWords(minMs)}`)
        .max(maxMs, `must be at most ${inWords(maxMs)}`),
    )
    .describe(
      `${what} Milliseconds, or text such as "10m", "90s" or "level:14" (10 minutes); from ${inWords(minMs)} to ${inWords(maxMs)}.`,
    );
}
