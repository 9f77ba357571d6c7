import { z } from 'zod';
import { UsageError } from './usage-error.ts';

/**
 * Read what stood on the command line by a schema.
 * @throws UsageError that names the option or argument, as it is typed.
 */
export function readInput<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${nameOf(path)} ${message}`);
  throw new UsageError([...new Set(faults)].join('; '));
}

function nameOf([first, ...rest]: PropertyKey[]): string {
  const name = String(first ?? 'input');
  const isArgument = name === name.toUpperCase();
  const typed = isArgument ? name : `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  return [typed, ...rest.filter((step) => typeof step === 'string')].join('.');
}

/** A whole number as it is typed. */
export const typedNumber = z
  .string('must be a whole number')
  .regex(/^(0|[1-9][0-9]{0,14})$/, 'must be a whole number')
  .transform(Number);

/** How many rows of a list. */
export const typedLimit = typedNumber
  .pipe(z.int().min(1, 'must be 1 to 200').max(200, 'must be 1 to 200'))
  .default(50);
