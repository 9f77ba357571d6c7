import { idempotencyKey } from '@lapse/contracts';
import { settledAnswer } from '@lapse/operations';
import type { SettleAnswer, SettleOptions, SettleResult } from '@lapse/order-repository';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { operatorRequest, sendStored } from '../operator-answer.ts';
import { sendProblem } from '../problem-reply.ts';
import { problemResponses } from './problem-responses.ts';

/** What each such request says. */
interface SettleBody {
  readonly ids: readonly unknown[];
  readonly dryRun: boolean;
  readonly reason: string;
}

/** Common to the descriptions of these routes. */
export const settleSchema = {
  tags: ['operations'],
  security: [{ bearer: [] }],
  headers: z.object({ 'idempotency-key': idempotencyKey.optional() }),
  description:
    'A dry run unless `dryRun` is false. Idempotent: what is settled is left alone. All rows or, when the request dies half way, none. With an Idempotency-Key a repeat gets the first answer for at least 24 hours; a dry run uses up no key.',
};
export const settleRefusals: ReturnType<typeof problemResponses> = problemResponses(
  ...(['INVALID_REQUEST', 'UNAUTHENTICATED', 'FORBIDDEN'] as const),
  ...(['IDEMPOTENCY_KEY_REUSED', 'UNAVAILABLE'] as const),
);

/**
 * Settle rows by an operator's hand, and answer what became of each: by the route's public shape, and for a repeat
 * with the same key in the same bytes.
 * @param more what else of the request makes a repeat the same, beside rows, dry run and reason.
 */
export async function settleByHand<Outcome>(
  request: FastifyRequest & {
    readonly body: SettleBody;
    readonly headers: { 'idempotency-key'?: string | undefined };
  },
  reply: FastifyReply,
  shape: z.ZodType,
  settle: (options: SettleOptions, answer: SettleAnswer<Outcome>) => Promise<SettleResult<Outcome>>,
  more: readonly string[] = [],
): Promise<void> {
  const { ids, dryRun, reason } = request.body;
  const key = request.headers['idempotency-key'];
  const asked = operatorRequest(request, key, reason, [...more, ids, dryRun, reason]);
  const settled = await settle({ ...asked, dryRun }, settledAnswer(shape, dryRun));
  switch (settled.kind) {
    case 'done':
    case 'replayed':
      return void (await sendStored(reply, settled.answer, settled.kind));
    case 'key_reused':
      return void (await sendProblem(reply, { code: 'IDEMPOTENCY_KEY_REUSED' }));
    case 'refused':
      throw new Error('rows were refused as a whole');
  }
}
