import { createVerifier } from 'fast-jwt';
import type { onRequestHookHandler } from 'fastify';

/** Refuses whoever is not a buyer, by the library and the claims by which Lapse does, and nothing else. */
export function checkToken(jwtSecret: string): onRequestHookHandler {
  const verify = createVerifier({
    key: Buffer.from(jwtSecret),
    algorithms: ['HS256'],
    allowedAud: 'lapse',
    requiredClaims: ['sub', 'exp', 'aud'],
  });
  return (request, _reply, done) => {
    verify(String(request.headers.authorization).slice('Bearer '.length));
    done();
  };
}
