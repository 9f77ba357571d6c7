import type { SimulatorFaults } from '@lapse/contracts';
import { sleep } from '@lapse/runtime';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { chance } from './chance.ts';
import { faultsMade } from './metrics.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What happens to the answer after the work is done. */
    spoil: 'error' | 'timeout' | undefined;
  }
}

const simulated = { code: 'SIMULATED', message: 'A fault on purpose. Send the same request again.' };

/**
 * Answer some calls with 500, and some never: half of them before anything happened, half after it did, which is
 * what idempotency keys are for. Only for the routes of the plugin that calls this. A call that is never answered
 * keeps its connection until `apiTimeoutMs` is over or the server closes.
 */
export function spoilAnswers(app: FastifyInstance, faults: () => SimulatorFaults): void {
  const closing = new AbortController();
  let calls = 0;
  app.decorateRequest('spoil', undefined);
  app.addHook('preClose', (done) => {
    closing.abort();
    done();
  });

  app.addHook('preHandler', async (request, reply) => {
    calls += 1;
    const roll = (purpose: string) => chance(faults().seed, purpose, `call ${calls}`);
    const { apiError, apiTimeout, apiTimeoutMs } = faults();
    const fault =
      roll('apiError') < apiError ? 'error' : roll('apiTimeout') < apiTimeout ? 'timeout' : undefined;
    if (fault === undefined) return undefined;
    faultsMade.inc({ fault });
    if (roll('after the work') < 0.5) {
      request.spoil = fault;
      return undefined;
    }
    if (fault === 'error') return reply.code(500).send(simulated);
    reply.hijack();
    await sleep(apiTimeoutMs, closing.signal);
    cut(request);
    return undefined;
  });

  app.addHook('onSend', async (request, reply, payload) => {
    if (request.spoil === 'error') {
      reply.code(500);
      const text = JSON.stringify(simulated);
      reply.header('content-length', Buffer.byteLength(text));
      return text;
    }
    if (request.spoil === 'timeout') {
      await sleep(faults().apiTimeoutMs, closing.signal);
      cut(request);
    }
    return payload;
  });
}

/** The socket itself: a request that was read to its end destroys nothing but itself. */
function cut(request: FastifyRequest): void {
  request.raw.socket.destroy();
}
