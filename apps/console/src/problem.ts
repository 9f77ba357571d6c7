import { randomUUID } from 'node:crypto';
import { type ProblemCode, type ProblemView, problems } from '@lapse/contracts';
import type { FastifyReply } from 'fastify';

const contentType = 'application/problem+json; charset=utf-8';

/** Answer in the shape of the API's own problems, so that the page knows one shape. */
export function sendProblem(reply: FastifyReply, code: ProblemCode, detail?: string): FastifyReply {
  const { status, title, advice } = problems[code];
  const body: ProblemView = {
    type: 'about:blank',
    title,
    status,
    code,
    detail: detail ?? advice,
    instance: randomUUID(),
  };
  if (status === 503 || status === 429) reply.header('retry-after', '2');
  return reply.code(status).type(contentType).send(JSON.stringify(body));
}
