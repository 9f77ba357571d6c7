import { type ProblemView, problems } from '@lapse/contracts';
import type { FieldFault, Problem } from '@lapse/operations';
import type { FastifyReply } from 'fastify';
import { requestsRefused } from './metrics.ts';

/** A request may have thousands of wrong fields; naming this many is enough to mend it. */
const fieldFaultsMax = 20;
/** Unknown field names come from the caller, so they are cut. */
const fieldNameMax = 120;

export const problemContentType = 'application/problem+json';

/** The one body shape of every error (RFC 9457). `instance` is the request's id, found in the logs. */
export function problemBody(problem: Problem, requestId: string): ProblemView {
  const { code, detail, errors, retryAfterSeconds: _header, ...members } = problem;
  const { status, title, advice } = problems[code];
  return {
    type: `/problems#${code}`,
    title,
    status,
    code,
    detail: detail ?? advice,
    instance: `urn:uuid:${requestId}`,
    ...(errors === undefined ? {} : { errors: errors.slice(0, fieldFaultsMax).map(shortened) }),
    ...members,
  };
}

/** Answer with a problem, and count it by its code. */
export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  const { status } = problems[problem.code];
  requestsRefused.inc({ code: problem.code });
  const retryAfter = problem.retryAfterSeconds ?? (status === 503 || status === 429 ? 1 : undefined);
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
  return reply
    .code(status)
    .type(problemContentType)
    .send(JSON.stringify(problemBody(problem, reply.request.id)));
}

function shortened({ field, message }: FieldFault): FieldFault {
  return {
    field: field.length > fieldNameMax ? `${field.slice(0, fieldNameMax)}…` : field,
    message,
  };
}
