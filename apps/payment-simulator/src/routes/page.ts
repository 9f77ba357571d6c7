import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Dependencies } from '../dependencies.ts';
import { renderPayPage, renderUnknownPage, styleSource } from '../pay-page.ts';

const params = z.object({ ref: z.string().max(64) });
const form = z.strictObject({ outcome: z.enum(['succeed', 'decline']) });

const htmlType = 'text/html; charset=utf-8';
/** No script, no frame, no picture; its own style and its own form. */
const policy = [
  "default-src 'none'",
  `style-src '${styleSource}'`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** The page that a buyer pays on. Who knows its address may pay: the reference in it cannot be guessed. */
export const pageRoutes: FastifyPluginAsyncZod<Dependencies> = async (app, { bank, books }) => {
  app.addHook('onSend', async (_request, reply, payload) => {
    reply.header('content-security-policy', policy);
    reply.header('cache-control', 'no-store');
    return payload;
  });
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: 256 },
    (_request, text, done) => done(null, Object.fromEntries(new URLSearchParams(String(text)))),
  );

  app.get('/pay/:ref', { schema: { params } }, async (request, reply) => {
    const attempt = books.attempts.get(request.params.ref);
    reply.type(htmlType);
    return attempt ? renderPayPage(attempt) : reply.code(404).send(renderUnknownPage());
  });

  app.post('/pay/:ref', { schema: { params, body: form } }, async (request, reply) => {
    const { ref } = request.params;
    // Whatever came of it, the page says it; a reload must not pay again.
    const answer = bank.pay(ref, request.body.outcome, 0);
    if (answer.kind === 'NOT_FOUND') return reply.code(404).type(htmlType).send(renderUnknownPage());
    const note = answer.kind === 'done' && request.body.outcome === 'decline' ? '?declined' : '';
    return reply.redirect(`/pay/${encodeURIComponent(ref)}${note}`, 303);
  });
};
