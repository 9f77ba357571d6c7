import { parseOptions, UsageError } from '@lapse/stack';

export interface ChaosArgs {
  readonly minutes: number;
  readonly seed: number;
  readonly keep: boolean;
}

const minutesDefault = 2;
const minutes = { min: 0.2, max: 720 } as const;
const seedMax = 2 ** 32 - 1;

/** @throws {UsageError} saying what would work. */
export function parseChaosArgs(args: readonly string[]): ChaosArgs {
  const values = parseOptions(args, {
    minutes: { type: 'string' },
    seed: { type: 'string' },
    keep: { type: 'boolean' },
  });
  return {
    minutes: number('--minutes', values.minutes, minutes.min, minutes.max) ?? minutesDefault,
    seed: number('--seed', values.seed, 0, seedMax) ?? Math.floor(Math.random() * seedMax),
    keep: values.keep === true,
  };
}

function number(name: string, text: string | undefined, min: number, max: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() !== '' && value >= min && value <= max && (name !== '--seed' || Number.isInteger(value)))
    return value;
  throw new UsageError(
    `${name}=${text} must be a ${name === '--seed' ? 'whole ' : ''}number from ${min} to ${max}.`,
  );
}
