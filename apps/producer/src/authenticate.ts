import { userId } from '@lapse/contracts';
import type { AuthConfig } from '@lapse/runtime';
import type { TokenVerdict, TokenVerifier } from './token-verifier.ts';
import { openPublicKeyVerifier } from './verify-public-keys.ts';
import { openSecretVerifier } from './verify-shared-secret.ts';

/** Who sent a request, as a verified token says. */
export interface Identity {
  readonly userId: string;
  /** May create activities, and read any order. */
  readonly isOperator: boolean;
  /** The claim as it came; undefined when absent. */
  readonly locale: string | undefined;
}

export type AuthResult =
  | { readonly kind: 'identity'; readonly identity: Identity }
  | Extract<TokenVerdict, { kind: 'invalid' }>;

export type Authenticator = (authorization: string | undefined) => AuthResult | Promise<AuthResult>;

/** A longer token is refused unread. */
const tokenLengthMax = 8_192;
const operatorScope = 'operator';

/**
 * Verify bearer tokens: signature by the one configured kind of key, an allow-list of algorithms (never
 * `none`), audience, issuer when set, expiry. The buyer is `sub`, which must be a valid user id.
 * @throws {KeysUnavailableError} (the authenticator) when the issuer's keys cannot be fetched.
 */
export function openAuthenticator(config: AuthConfig): Authenticator {
  const verify = openVerifier(config);
  return (authorization) => {
    if (authorization === undefined) return { kind: 'invalid', fault: '' };
    const token = /^Bearer +([\w.-]+)$/i.exec(authorization)?.[1];
    if (token === undefined || token.length > tokenLengthMax) {
      return { kind: 'invalid', fault: 'not a bearer token' };
    }
    const verdict = verify(token);
    return verdict instanceof Promise ? verdict.then(judge) : judge(verdict);
  };
}

function judge(verdict: TokenVerdict): AuthResult {
  return verdict.kind === 'verified' ? identify(verdict.claims) : verdict;
}

function openVerifier(config: AuthConfig): TokenVerifier {
  const { jwksUrl, jwtSecret } = config;
  if (jwksUrl !== undefined) return openPublicKeyVerifier({ ...config, jwksUrl });
  if (jwtSecret !== undefined) return openSecretVerifier({ ...config, jwtSecret });
  throw new Error('auth needs jwtSecret or jwksUrl');
}

function identify(claims: Readonly<Record<string, unknown>>): AuthResult {
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
