import type { z } from 'zod';
import { WebhookBodyError } from './provider-errors.ts';

/** A signed body in the shape that was agreed. @throws {WebhookBodyError} naming each field that is not. */
export function parseBody<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new WebhookBodyError(faultsOf(parsed.error));
}

function faultsOf(error: z.ZodError): { field: string; message: string }[] {
  return error.issues.flatMap((issue) => {
    const path = ['body', ...issue.path].join('.');
    if (issue.code !== 'unrecognized_keys') return [{ field: path, message: issue.message }];
    return issue.keys.map((key) => ({ field: `${path}.${key}`, message: 'is not a known field' }));
  });
}
