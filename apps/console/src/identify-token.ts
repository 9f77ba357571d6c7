import { decodeJwt } from 'jose';
import type { CallProducer } from './call-producer.ts';
import type { Session } from './sessions.ts';

/** A cookie holds 4,096 bytes, and encryption makes a token a third longer. */
const tokenLengthMax = 2_700;
/** A session ends after so long, whatever its token says. */
export const sessionMsMax = 12 * 3_600_000;

export type TokenResult =
  | { readonly kind: 'session'; readonly session: Session }
  | { readonly kind: 'refused'; readonly detail: string };

/**
 * Ask the API whether it believes a token, and for an operator's: what only an operator may read answers 403 to a
 * buyer. The claims are read here, and believed because the API has checked the signature over them.
 */
export async function identifyToken(call: CallProducer, token: string, nowMs: number): Promise<TokenResult> {
  if (token.length > tokenLengthMax) {
    return refused(`The token is longer than ${tokenLengthMax} characters: it does not fit into a cookie.`);
  }
  const { status } = await call({ method: 'GET', path: '/v1/ops/findings?limit=1', token });
  if (status !== 200 && status !== 403) return refused('The API does not accept this token.');
  const { sub, exp } = decodeJwt(token);
  if (sub === undefined || exp === undefined) return refused('The token names no user or no time of expiry.');
  return {
    kind: 'session',
    session: {
      userId: sub,
      kind: status === 200 ? 'operator' : 'buyer',
      token,
      expiresAtMs: Math.min(exp * 1_000, nowMs + sessionMsMax),
    },
  };
}

function refused(detail: string): TokenResult {
  return { kind: 'refused', detail };
}
