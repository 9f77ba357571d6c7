import { randomUUID } from 'node:crypto';
import type { AuthConfig } from '@lapse/runtime';
import { SignJWT } from 'jose';
import { sessionMsMax } from './identify-token.ts';
import type { Session } from './sessions.ts';

export type MintGuest = (nowMs: number) => Promise<Session>;

/** Makes each browser a buyer of its own. For trials: it signs tokens, which is your login service's work. */
export function createGuestMint({ audience, issuer }: AuthConfig, secret: string): MintGuest {
  const key = new TextEncoder().encode(secret);
  return async (nowMs) => {
    const userId = `guest-${randomUUID()}`;
    const expiresAtMs = nowMs + sessionMsMax;
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setSubject(userId)
      .setAudience(audience)
      .setIssuer(issuer ?? 'lapse-console')
      .setIssuedAt(Math.floor(nowMs / 1_000))
      .setExpirationTime(Math.floor(expiresAtMs / 1_000))
      .sign(key);
    return { userId, kind: 'guest', token, expiresAtMs };
  };
}
