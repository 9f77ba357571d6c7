import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Refusal } from './bank.ts';

const refusals: Readonly<Record<Refusal, readonly [status: number, message: string]>> = {
  FULL: [503, 'The simulator keeps no more; empty its folder, or wait until events are delivered.'],
  NOT_FOUND: [404, 'No such attempt.'],
  KEY_REUSED: [409, 'This Idempotency-Key came with another request before. Use a new key.'],
  ATTEMPT_ENDED: [409, 'The attempt has ended: read it to see how. Begin a new one.'],
  ATTEMPT_BUSY: [409, 'The buyer has paid already, and it is being carried out. Read the attempt.'],
  PAYMENT_NOT_FOUND: [404, 'No such payment was captured.'],
  REFUND_CURRENCY: [422, 'The payment was captured in another currency.'],
  REFUND_TOO_LARGE: [422, 'All refunds of a payment together are at most what it captured.'],
};

export const refusalView = z.object({ code: z.string(), message: z.string() });

export function refuse(reply: FastifyReply, kind: Refusal): FastifyReply {
  const [status, message] = refusals[kind];
  return reply.code(status).send({ code: kind, message });
}
