import {
  simulatorAttempt,
  simulatorFaults,
  simulatorLedger,
  simulatorPayBody,
  simulatorRefund,
} from '@lapse/contracts';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Books } from '../books.ts';
import type { Dependencies } from '../dependencies.ts';
import { refusalView, refuse } from '../refusals.ts';
import { attemptView, refundView } from '../views.ts';

const pageMax = 10_000;
const page = z.object({
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(pageMax).default(1_000),
});

/** What tests, the chaos harness and the oracle call. Never spoilt, whatever the faults. */
export const controlRoutes: FastifyPluginAsyncZod<Dependencies> = async (
  app,
  { bank, books, faults, pageUrl },
) => {
  app.post(
    '/v1/attempts/:ref/pay',
    {
      schema: {
        params: z.object({ ref: z.string().max(64) }),
        body: simulatorPayBody,
        response: { 200: simulatorAttempt, '4xx': refusalView, '5xx': refusalView },
      },
    },
    async (request, reply) => {
      const { outcome, afterMs } = request.body;
      const answer = bank.pay(request.params.ref, outcome, afterMs);
      return answer.kind === 'done' ? attemptView(answer.value, pageUrl()) : refuse(reply, answer.kind);
    },
  );

  app.post(
    '/v1/refunds/:ref/fail',
    {
      schema: {
        params: z.object({ ref: z.string().max(64) }),
        response: { 200: simulatorRefund, '4xx': refusalView, '5xx': refusalView },
      },
    },
    async (request, reply) => {
      const answer = bank.failRefund(request.params.ref);
      return answer.kind === 'done' ? refundView(answer.value) : refuse(reply, answer.kind);
    },
  );

  app.get(
    '/v1/ledger',
    { schema: { querystring: page, response: { 200: simulatorLedger } } },
    async (request) => ledgerPage(books, request.query),
  );

  app.get(
    '/v1/refunds',
    {
      schema: {
        querystring: page,
        response: { 200: z.object({ refunds: z.array(simulatorRefund), next: z.int().nullable() }) },
      },
    },
    async (request) => {
      const { refunds, next } = ledgerPage(books, request.query);
      return { refunds, next };
    },
  );

  app.get('/v1/faults', { schema: { response: { 200: simulatorFaults } } }, async () => faults.current);

  app.put(
    '/v1/faults',
    { schema: { body: simulatorFaults, response: { 200: simulatorFaults } } },
    async (request) => {
      request.log.info({ faults: request.body }, 'faults changed');
      faults.current = request.body;
      return faults.current;
    },
  );
};

function ledgerPage(books: Books, { after, limit }: z.output<typeof page>): z.input<typeof simulatorLedger> {
  const moves = books.moves.slice(after, after + limit);
  const reached = after + moves.length;
  const waiting = { events: books.deliveries.size, payments: 0, refunds: 0 };
  for (const { click } of books.attempts.values()) if (click) waiting.payments += 1;
  for (const { state } of books.refunds.values()) if (state === 'pending') waiting.refunds += 1;
  return {
    captures: moves.flatMap((move) =>
      move.kind === 'capture'
        ? [
            {
              ...move.capture,
              providerRef: move.attempt.terms.providerRef,
              orderId: move.attempt.terms.orderId,
            },
          ]
        : [],
    ),
    refunds: moves.flatMap((move) => (move.kind === 'refund' ? [refundView(move.refund)] : [])),
    next: reached < books.moves.length ? reached : null,
    waiting,
  };
}
