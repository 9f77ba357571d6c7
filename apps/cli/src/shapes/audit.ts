import { z } from 'zod';

const findingShape = z.object({
  activityId: z.int(),
  kind: z.string(),
  action: z.string(),
  detail: z.object({ count: z.int(), seen: z.array(z.string()) }),
});

/** `lapse audit --json`. Only what two looks found just the same is drift. */
export const auditShape = z.object({
  activities: z.int(),
  /** Looked at in vain: the stock is not loaded, or just being loaded. */
  notLoaded: z.array(z.int()),
  findings: z.array(findingShape),
  healed: z.boolean(),
});
