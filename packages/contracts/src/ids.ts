import { z } from 'zod';

/** An activity's number. Part of Redis key names, so nothing but digits can pass here. */
export const activityId = z
  .int()
  .positive()
  .max(Number.MAX_SAFE_INTEGER)
  .describe('Number of the activity, as returned when it was created.');

const lowerCase = /^[0-9a-f-]+$/;
const orderIdFault =
  'must be the id of an order: a UUID of version 7 in lower case, as the API answered when it was placed';
const uuidFault = 'must be a UUID in lower case';

/** An order's id: UUID version 7, lower case. Sorts by time of creation. */
export const orderId = z
  .uuidv7({ error: orderIdFault, abort: true })
  .regex(lowerCase, orderIdFault)
  .describe('UUID version 7 in lower case.')
  .meta({ examples: ['019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001'] });

/** The id of something else than an order: any UUID, lower case. */
export const lowerCaseUuid = z.uuid({ error: uuidFault, abort: true }).regex(lowerCase, uuidFault);

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
  .string(
    'is missing: send an Idempotency-Key header, a new one for each new request and the same for a repeat',
  )
  .regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 printable ASCII characters without spaces')
  .describe('A new one for each new request; with the same one a repeat gets the first answer again.')
  .meta({ examples: ['7c9e-1'] });

/** Why an operator changes something by hand: kept with the change, for whoever asks later. */
export const operatorReason = z
  .string('must say why, in 1 to 500 characters')
  .trim()
  .min(1)
  .max(500)
  .refine((text) => text.isWellFormed(), 'must be well-formed Unicode')
  .refine((text) => !controlCharacters.test(text), 'must not contain control characters')
  .describe('Why: kept with the change.');
