import { type ProblemCode, problems, problemView } from '@lapse/contracts';
import type { z } from 'zod';
import { problemContentType } from '../problem-reply.ts';

interface ProblemResponse {
  readonly description: string;
  readonly content: { readonly [problemContentType]: { readonly schema: z.ZodType } };
}

/**
 * The error answers of a route, for its OpenAPI description: one per status, naming the codes. Too many requests
 * may be the answer of every route.
 */
export function problemResponses(...codes: readonly ProblemCode[]): Record<number, ProblemResponse> {
  const responses: Record<number, ProblemResponse> = {};
  for (const code of [...codes, 'TOO_MANY_REQUESTS'] as const) {
    const { status, title } = problems[code];
    const earlier = responses[status];
    responses[status] = {
      description: `${earlier ? `${earlier.description} ` : ''}${code}: ${title}.`,
      content: { [problemContentType]: { schema: problemView } },
    };
  }
  return responses;
}
