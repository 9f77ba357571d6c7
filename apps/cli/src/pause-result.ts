import type { z } from 'zod';
import type { CommandResult } from './command.ts';

/** What a pause or a resume came to: by the API's own shape. @param now what is so then. */
export function pauseResult(shape: z.ZodType, body: Buffer, now: string): CommandResult {
  const data = JSON.parse(body.toString()) as { readonly dryRun: boolean; readonly changes: boolean };
  const text = data.changes ? now : `${now} already`;
  if (!data.dryRun) return { shape, data, text: `done: ${text}` };
  return { shape, data, text: `dry run, nothing was changed; then: ${text}\n--apply --reason TEXT does it.` };
}
