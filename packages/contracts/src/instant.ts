import { z } from 'zod';

const instantFault =
  'must be a time with its zone, from 1970 to 9999, such as "2030-01-01T00:00:00Z" or "2030-01-01T08:00:00+08:00"';
/** What both a year of four digits and a DATETIME hold. */
const yearMin = 1970;
const yearMax = 9999;

/** A time in a request, in any zone; comes out in UTC with milliseconds, as everything here is kept. */
export const instant = z.iso
  .datetime({ offset: true, error: instantFault, abort: true })
  .meta({ examples: ['2030-01-01T00:00:00Z', '2030-01-01T08:00:00+08:00'] })
  .transform((text, context) => {
    const at = new Date(text);
    const year = at.getUTCFullYear();
    if (year >= yearMin && year <= yearMax) return at.toISOString();
    context.addIssue({ code: 'custom', message: instantFault });
    return z.NEVER;
  });
