import { numberFormat } from './number-format.ts';

const unitsSeconds = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** More than two units is more than a person wants to read. */
const unitsShownMax = 2;

/**
 * Time left in words, rounded down so that no buyer is promised more than there is: "4 min 58 sec",
 * "4分钟58秒". Undefined when less than a second is left.
 */
export function formatRemaining(locale: string, remainingMs: number): string | undefined {
  let seconds = Math.floor(remainingMs / 1_000);
  if (!(seconds >= 1)) return undefined;
  const parts: string[] = [];
  for (const [unit, unitSeconds] of unitsSeconds) {
    const count = Math.floor(seconds / unitSeconds);
    seconds -= count * unitSeconds;
    if (count > 0) {
      parts.push(numberFormat(locale, { style: 'unit', unit, unitDisplay: 'short' }).format(count));
    } else if (parts.length > 0) {
      break;
    }
    if (parts.length === unitsShownMax) break;
  }
  return new Intl.ListFormat(locale, { type: 'unit', style: 'narrow' }).format(parts);
}
