import { userId } from '@lapse/contracts';
import type { AuthConfig } from '@lapse/runtime';
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';

/** Who sent a request, as a verified token says. */
export interface Identity {
  readonly userId: string;
  /** May create activities, and read any order. */
  readonly isOperator: boolean;
  /** The claim as it came; undefined when absent. */
  readonly locale: string | undefined;
}

type AuthResult =
  | { readonly kind: 'identity'; readonly identity: Identity }
  /** `fault` is for the caller: it says what is wrong with the token, and nothing about our keys. */
  | { readonly kind: 'invalid'; readonly fault: string };

export type Authenticator = (authorization: string | undefined) => Promise<AuthResult>;

/** The issuer's keys could not be fetched: the token is neither valid nor invalid yet. */
export class KeysUnavailableError extends Error {
  readonly code = 'LAPSE_JWKS_UNAVAILABLE';
  constructor(options?: ErrorOptions) {
    super('the keys that verify tokens could not be fetched', options);
    this.name = 'KeysUnavailableError';
  }
}

/** Clocks of issuer and server may differ by this much. */
const clockToleranceSeconds = 5;
/** Signatures taken from a JWKS: asymmetric only, so that no public key can be used as an HMAC secret. */
const publicKeyAlgorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'EdDSA'];
const jwksLimits = { timeoutDuration: 3_000, cooldownDuration: 10_000, cacheMaxAge: 600_000 };
/** A longer token is refused unread. */
const tokenLengthMax = 8_192;
const operatorScope = 'operator';

/**
 * Verify bearer tokens: signature by the one configured kind of key, an allow-list of algorithms (never
 * `none`), audience, issuer when set, expiry. The buyer is `sub`, which must be a valid user id.
 */
export async function openAuthenticator(config: AuthConfig): Promise<Authenticator> {
  const verify = await openVerifier(config);
  return async (authorization) => {
    if (authorization === undefined) return { kind: 'invalid', fault: '' };
    const token = /^Bearer +([\w.-]+)$/i.exec(authorization)?.[1];
    if (token === undefined || token.length > tokenLengthMax) {
      return { kind: 'invalid', fault: 'not a bearer token' };
    }
    try {
      return identify(await verify(token));
    } catch (error) {
      const fault = faultOf(error);
      if (fault === undefined) throw new KeysUnavailableError({ cause: error });
      return { kind: 'invalid', fault };
    }
  };
}

async function openVerifier(config: AuthConfig): Promise<(token: string) => Promise<JWTPayload>> {
  const options: JWTVerifyOptions = {
    audience: config.audience,
    clockTolerance: clockToleranceSeconds,
    requiredClaims: ['sub', 'exp'],
    ...(config.issuer === undefined ? {} : { issuer: config.issuer }),
  };
  if (config.jwksUrl !== undefined) {
    const keys = createRemoteJWKSet(new URL(config.jwksUrl), jwksLimits);
    const remote = { ...options, algorithms: publicKeyAlgorithms };
    return async (token) => (await jwtVerify(token, keys, remote)).payload;
  }
  if (config.jwtSecret === undefined) throw new Error('auth needs jwtSecret or jwksUrl');
  // Imported once: from bytes, every verification would import it again.
  const secret = await crypto.subtle.importKey(
    'raw',
    new TextEncoder().encode(config.jwtSecret),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['verify'],
  );
  const local = { ...options, algorithms: ['HS256'] };
  return async (token) => (await jwtVerify(token, secret, local)).payload;
}

function identify(claims: JWTPayload): AuthResult {
  const subject = userId.safeParse(claims.sub);
  if (!subject.success) return { kind: 'invalid', fault: 'the claim sub is not a valid user id' };
  return {
    kind: 'identity',
    identity: {
      userId: subject.data,
      isOperator: scopesOf(claims.scope).includes(operatorScope),
      locale: typeof claims.locale === 'string' ? claims.locale : undefined,
    },
  };
}

/** RFC 8693: one string, separated by spaces. Some issuers send an array. */
function scopesOf(scope: unknown): readonly unknown[] {
  if (typeof scope === 'string') return scope.split(' ');
  return Array.isArray(scope) ? scope : [];
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
