import { z } from 'zod';

/** `lapse schema status --json` */
export const schemaShape = z.object({
  applied: z.array(z.object({ name: z.string(), at: z.iso.datetime() })),
  pending: z.array(z.string()),
  /** Applied by a newer release than this one. */
  unknown: z.array(z.string()),
});

/** `lapse schema migrate --json`: what this call applied. */
export const migrateShape = z.object({ applied: z.array(z.string()) });

/** `lapse topics apply --json` */
export const topicsShape = z.object({ topics: z.array(z.string()) });
