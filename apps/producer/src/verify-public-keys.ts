import type { AuthConfig } from '@lapse/runtime';
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import { clockToleranceSeconds, type TokenVerifier } from './token-verifier.ts';

/** The issuer's keys could not be fetched: the token is neither valid nor invalid yet. */
export class KeysUnavailableError extends Error {
  readonly code = 'LAPSE_JWKS_UNAVAILABLE';
  constructor(options?: ErrorOptions) {
    super('the keys that verify tokens could not be fetched', options);
    this.name = 'KeysUnavailableError';
  }
}

/** Asymmetric only, so that no public key can be used as an HMAC secret. */
const publicKeyAlgorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'EdDSA'];
const jwksLimits = { timeoutDuration: 3_000, cooldownDuration: 10_000, cacheMaxAge: 600_000 };

/** Tokens signed with a key of a login service, which publishes its public keys (JWKS). */
export function openPublicKeyVerifier({
  jwksUrl,
  audience,
  issuer,
}: AuthConfig & { readonly jwksUrl: string }): TokenVerifier {
  const keys = createRemoteJWKSet(new URL(jwksUrl), jwksLimits);
  const options = {
    audience,
    algorithms: publicKeyAlgorithms,
    clockTolerance: clockToleranceSeconds,
    requiredClaims: ['sub', 'exp'],
    ...(issuer === undefined ? {} : { issuer }),
  };
  return async (token) => {
    try {
      return { kind: 'verified', claims: (await jwtVerify(token, keys, options)).payload };
    } catch (error) {
      const fault = faultOf(error);
      if (fault === undefined) throw new KeysUnavailableError({ cause: error });
      return { kind: 'invalid', fault };
    }
  };
}

/** What is wrong with the token; undefined when it is not the token's fault. */
function faultOf(error: unknown): string | undefined {
  if (error instanceof errors.JWTExpired) return 'the token has expired';
  if (error instanceof errors.JWTClaimValidationFailed) {
    const { claim, reason } = error;
    if (reason === 'missing') return `the claim ${claim} is missing: a token must carry it`;
    return `the claim ${claim} is not accepted`;
  }
  const isTokenFault =
    error instanceof errors.JOSEAlgNotAllowed ||
    error instanceof errors.JOSENotSupported ||
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys;
  return isTokenFault ? 'the token is not valid' : undefined;
}
