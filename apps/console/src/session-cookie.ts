import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ConsoleDependencies } from './console-dependencies.ts';
import { sendProblem } from './problem.ts';
import type { Session } from './sessions.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Read from the cookie before every route of `/api` and `/events`; null: nobody has signed in. */
    session: Session | null;
  }
}

const cookieName = 'lapse_session';

/** A hook that reads the session. */
export function readSession({ sessions }: Pick<ConsoleDependencies, 'sessions'>) {
  return async (request: FastifyRequest): Promise<void> => {
    const cookie = request.cookies[cookieName];
    request.session = cookie === undefined ? null : await sessions.open(cookie);
  };
}

/** Never readable by script, never sent along from another site. */
export async function setSession(
  reply: FastifyReply,
  session: Session,
  { sessions, publicUrl }: Pick<ConsoleDependencies, 'publicUrl' | 'sessions'>,
): Promise<void> {
  reply.setCookie(cookieName, await sessions.seal(session), {
    path: '/',
    httpOnly: true,
    sameSite: 'strict',
    secure: publicUrl?.startsWith('https:') ?? false,
    expires: new Date(session.expiresAtMs),
  });
}

export function endSession(reply: FastifyReply): void {
  reply.clearCookie(cookieName, { path: '/' });
}

/** A hook for routes that need somebody, or an operator. */
export function requireSession(kind?: 'operator') {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    if (request.session === null) return sendProblem(reply, 'UNAUTHENTICATED', 'Sign in first.');
    if (kind === 'operator' && request.session.kind !== 'operator') {
      return sendProblem(reply, 'FORBIDDEN', 'This is for operators: sign in with an operator’s token.');
    }
    return undefined;
  };
}

export function sessionOf({ session }: FastifyRequest): Session {
  if (session === null) throw new Error('the route lacks requireSession');
  return session;
}
