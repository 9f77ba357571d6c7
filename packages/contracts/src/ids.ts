import { z } from 'zod';

/** An activity's number. Part of Redis key names, so nothing but digits can pass here. */
export const activityId = z
  .int()
  .positive()
  .max(Number.MAX_SAFE_INTEGER)
  .describe('Number of the activity, as returned when it was created.');

/** An order's id: UUID version 7, lower case. Sorts by time of creation. */
export const orderId = z
  .uuidv7()
  .regex(/^[0-9a-f-]+$/, 'must be lower case')
  .describe('UUID version 7 in lower case.');

const controlCharacters = /\p{Cc}/u;

/**
 * Who buys: the `sub` claim of the token. Any well-formed text of 1 to 128 characters without control
 * characters. Both stores compare it byte by byte, so that they never disagree on who is who.
 */
export const userId = z
  .string()
  .min(1)
  .max(128)
  .refine((text) => text.isWellFormed(), 'must be well-formed Unicode')
  .refine((text) => !controlCharacters.test(text), 'must not contain control characters');

/** The `Idempotency-Key` header: 1 to 128 printable ASCII characters, unique per buyer. */
export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 printable ASCII characters without spaces');

/** Why an operator changes something by hand: kept with the change, for whoever asks later. */
export const operatorReason = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .refine((text) => text.isWellFormed(), 'must be well-formed Unicode')
  .refine((text) => !controlCharacters.test(text), 'must not contain control characters')
  .describe('Why: kept with the change.');
