/** The claims of a token whose signature, audience, issuer and times are right; or what is wrong with it. */
export type TokenVerdict =
  | { readonly kind: 'verified'; readonly claims: Readonly<Record<string, unknown>> }
  /** `fault` is for the caller: it says what is wrong with the token, and nothing about our keys. */
  | { readonly kind: 'invalid'; readonly fault: string };

/** At once where it can be: every request waits for it. */
export type TokenVerifier = (token: string) => TokenVerdict | Promise<TokenVerdict>;

/** Clocks of issuer and server may differ by this much. */
export const clockToleranceSeconds = 5;
