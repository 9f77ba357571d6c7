import { createHash } from 'node:crypto';
import { EncryptJWT, errors, jwtDecrypt } from 'jose';
import { z } from 'zod';

/** Who looks at the page, with the token that the API believes. Lives in the cookie alone. */
export interface Session {
  readonly userId: string;
  readonly kind: 'guest' | 'buyer' | 'operator';
  readonly token: string;
  readonly expiresAtMs: number;
}

export interface Sessions {
  /** The cookie's value. */
  seal(session: Session): Promise<string>;
  /** Null when it is not ours, was changed, or has expired. */
  open(cookie: string): Promise<Session | null>;
}

const claims = z.object({
  userId: z.string(),
  kind: z.enum(['guest', 'buyer', 'operator']),
  token: z.string(),
});
const algorithms = { alg: 'dir', enc: 'A256GCM' } as const;

/**
 * Sessions without a store: the cookie is encrypted and authenticated (JWE, AES-256-GCM), so neither script nor person
 * reads the token in it, and nobody makes one up. It ends with its token.
 */
export function createSessions(secret: string): Sessions {
  // A key of its own, should the same text ever be a secret elsewhere.
  const key = createHash('sha256').update('lapse console session\0').update(secret).digest();
  return {
    seal: ({ userId, kind, token, expiresAtMs }) =>
      new EncryptJWT({ userId, kind, token })
        .setProtectedHeader(algorithms)
        .setExpirationTime(Math.floor(expiresAtMs / 1_000))
        .encrypt(key),
    open: async (cookie) => {
      try {
        const { payload } = await jwtDecrypt(cookie, key, {
          keyManagementAlgorithms: [algorithms.alg],
          contentEncryptionAlgorithms: [algorithms.enc],
          requiredClaims: ['exp'],
        });
        return { ...claims.parse(payload), expiresAtMs: (payload.exp ?? 0) * 1_000 };
      } catch (error) {
        if (error instanceof errors.JOSEError || error instanceof z.ZodError) return null;
        throw error;
      }
    },
  };
}
