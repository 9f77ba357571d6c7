import { SignJWT } from 'jose';

export const demoAudience = 'lapse';
const demoIssuer = 'lapse-demo';

export interface TokenClaims {
  /** The buyer, or the operator's name. */
  readonly sub: string;
  /** Space-separated, as in OAuth: `operator`, or empty for a buyer. */
  readonly scope?: string;
  readonly locale?: 'en' | 'zh';
}

const validFor = '7d';

/** A demo token, signed with this folder's secret. Nothing outside this stack accepts it. */
export async function mintToken(
  secret: string,
  { sub, scope = '', locale = 'en' }: TokenClaims,
): Promise<string> {
  return new SignJWT({ scope, locale })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(sub)
    .setIssuer(demoIssuer)
    .setAudience(demoAudience)
    .setIssuedAt()
    .setExpirationTime(validFor)
    .sign(new TextEncoder().encode(secret));
}
