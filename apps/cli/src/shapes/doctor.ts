import { z } from 'zod';

/** `lapse doctor --json` */
export const doctorShape = z.object({
  ok: z.boolean().describe('No check failed; warnings may be there.'),
  checks: z.array(
    z.object({
      area: z.enum(['settings', 'mysql', 'redis', 'rocketmq']),
      check: z.string(),
      state: z.enum(['ok', 'warn', 'fail', 'skipped']),
      says: z.string(),
      fix: z.string().optional(),
    }),
  ),
});
