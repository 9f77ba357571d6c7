import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ConsoleDependencies } from '../console-dependencies.ts';
import { identifyToken } from '../identify-token.ts';
import type { SessionView } from '../live-states.ts';
import { sendProblem } from '../problem.ts';
import { endSession, setSession } from '../session-cookie.ts';
import type { Session } from '../sessions.ts';

const loginBody = z.strictObject({ token: z.string().trim().min(1).max(10_000) });

/** Who looks at the page. The token comes in here once, and goes into the cookie; it is never sent out again. */
export const sessionRoutes: FastifyPluginAsyncZod<ConsoleDependencies> = async (app, dependencies) => {
  const { call, mintGuest } = dependencies;

  app.get('/api/session', async (request): Promise<SessionView> => viewOf(request.session));

  app.post('/api/session/guest', async (request, reply): Promise<unknown> => {
    if (request.session !== null) return viewOf(request.session);
    if (mintGuest === null) return viewOf(null);
    const session = await mintGuest(Date.now());
    await setSession(reply, session, dependencies);
    return viewOf(session);
  });

  app.post('/api/session', { schema: { body: loginBody } }, async (request, reply): Promise<unknown> => {
    const result = await identifyToken(call, request.body.token, Date.now());
    if (result.kind === 'refused') return sendProblem(reply, 'UNAUTHENTICATED', result.detail);
    await setSession(reply, result.session, dependencies);
    return viewOf(result.session);
  });

  app.delete('/api/session', async (_request, reply): Promise<SessionView> => {
    endSession(reply);
    return viewOf(null);
  });
};

function viewOf(session: Session | null): SessionView {
  return { kind: session?.kind ?? 'none', userId: session?.userId ?? null };
}
