import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { openAuthenticator } from '../src/authenticate.ts';
import { KeysUnavailableError } from '../src/verify-public-keys.ts';
import { auth, jwtSecret, tokenFor } from './test-api.ts';

const secret = new TextEncoder().encode(jwtSecret);
const authenticate = openAuthenticator(auth);
const kindOf = async (token: string) => (await authenticate(`Bearer ${token}`)).kind;

/** A valid token, to be spoilt in one point. */
const token = (
  change: Record<string, unknown> = {},
  header: { alg: string; kid?: string } = { alg: 'HS256' },
) =>
  new SignJWT({
    sub: 'ann',
    aud: 'lapse',
    exp: Math.floor(Date.now() / 1_000) + 60,
    ...change,
  }).setProtectedHeader(header);

describe('a token signed with the secret', () => {
  it('names the buyer, and nothing more', async () => {
    expect(await authenticate(`Bearer ${await token().sign(secret)}`)).toEqual({
      kind: 'identity',
      identity: { userId: 'ann', isOperator: false, locale: undefined },
    });
  });

  it.each([
    ['operator', true],
    ['openid operator email', true],
    [['openid', 'operator'], true],
    ['operators', false],
    ['openid,operator', false],
    ['OPERATOR', false],
    [[['operator']], false],
    [{ operator: true }, false],
    [undefined, false],
  ])('with the scope %j is an operator: %j', async (scope, isOperator) => {
    const result = await authenticate(`Bearer ${await token({ scope }).sign(secret)}`);
    expect(result).toMatchObject({ kind: 'identity', identity: { isOperator } });
  });

  it('is good for several audiences at once, when ours is one', async () => {
    expect(await kindOf(await token({ aud: ['other', 'lapse'] }).sign(secret))).toBe('identity');
  });

  it('may be a few seconds past its end, for clocks that differ, and no more', async () => {
    const now = Math.floor(Date.now() / 1_000);
    expect(await kindOf(await token({ exp: now - 2 }).sign(secret))).toBe('identity');
    expect(await kindOf(await token({ exp: now - 30 }).sign(secret))).toBe('invalid');
  });

  it.each<[string, Record<string, unknown>]>([
    ['of another audience', { aud: 'other' }],
    ['without audience', { aud: undefined }],
    ['without expiry', { exp: undefined }],
    ['not valid yet', { nbf: Math.floor(Date.now() / 1_000) + 60 }],
    ['without a buyer', { sub: undefined }],
    ['with an empty buyer', { sub: '' }],
    ['with a number for a buyer', { sub: 42 }],
    ['with a buyer longer than 128', { sub: 'x'.repeat(129) }],
    ['with a newline in the buyer', { sub: 'ann\nroot' }],
  ])('%s is refused', async (_name, change) => {
    expect(await kindOf(await token(change).sign(secret))).toBe('invalid');
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['without audience', { aud: undefined }, 'the claim aud is missing: a token must carry it'],
    ['without expiry', { exp: undefined }, 'the claim exp is missing: a token must carry it'],
    ['without a buyer', { sub: undefined }, 'the claim sub is missing: a token must carry it'],
    ['of another audience', { aud: 'other' }, 'the claim aud is not accepted'],
  ])('%s is refused with the reason', async (_name, change, fault) => {
    const result = await authenticate(`Bearer ${await token(change).sign(secret)}`);
    expect(result).toEqual({ kind: 'invalid', fault });
  });

  it('is refused when the issuer is another than the one set', async () => {
    const strict = openAuthenticator({ ...auth, issuer: 'https://login.example.com' });
    const from = async (iss: string) => (await strict(`Bearer ${await token({ iss }).sign(secret)}`)).kind;
    expect([await from('https://login.example.com'), await from('https://evil.example.com')]).toEqual([
      'identity',
      'invalid',
    ]);
  });
});

describe('a forged token', () => {
  it('without signature (alg none) is refused', async () => {
    const unsigned = new UnsecuredJWT({ sub: 'ann' }).setAudience('lapse').setExpirationTime('1m').encode();
    expect(await kindOf(unsigned)).toBe('invalid');
  });

  it('signed with another secret is refused', async () => {
    expect(await kindOf(await tokenFor('ann', { secret: 'x'.repeat(32) }))).toBe('invalid');
  });

  it('signed with another algorithm and the right secret is refused', async () => {
    const other = token({}, { alg: 'HS512' });
    expect(await kindOf(await other.sign(secret))).toBe('invalid');
  });

  it('with a changed payload is refused', async () => {
    const [head, , signature] = (await tokenFor('ann')).split('.');
    const payload = Buffer.from(JSON.stringify({ sub: 'bob', aud: 'lapse', exp: 9_999_999_999 }));
    expect(await kindOf(`${head}.${payload.toString('base64url')}.${signature}`)).toBe('invalid');
  });

  it.each([
    '',
    'Bearer',
    'Bearer ',
    'Basic YTpi',
    'Bearer a.b',
    'Bearer a.b.c',
    'Bearer a b',
    `Bearer ${'a'.repeat(9_000)}`,
  ])('that is none (%j) is refused', async (header) => {
    expect((await authenticate(header)).kind).toBe('invalid');
  });
});

describe('a login service with public keys (JWKS)', () => {
  /** A real one on loopback; `stop` makes it unreachable. */
  async function startIssuer() {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const keys = [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' }];
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ keys }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`,
      publicKey,
      privateKey,
      stop: async () => {
        server.close();
        server.closeAllConnections();
        await once(server, 'close');
      },
    };
  }
  const withKeys = (jwksUrl: string) => openAuthenticator({ jwksUrl, audience: 'lapse' });

  it('is asked for the key; tokens of other keys, and HMAC by the public key, are refused', async () => {
    const issuer = await startIssuer();
    try {
      const check = await withKeys(issuer.url);
      const kind = async (jwt: string) => (await check(`Bearer ${jwt}`)).kind;
      const es256 = () => token({}, { alg: 'ES256', kid: 'k1' });
      expect(await kind(await es256().sign(issuer.privateKey))).toBe('identity');
      const stranger = await generateKeyPair('ES256');
      expect(await kind(await es256().sign(stranger.privateKey))).toBe('invalid');
      const publicText = new TextEncoder().encode(JSON.stringify(await exportJWK(issuer.publicKey)));
      expect(await kind(await token({}, { alg: 'HS256', kid: 'k1' }).sign(publicText))).toBe('invalid');
      expect(await kind(await token().sign(secret))).toBe('invalid');
    } finally {
      await issuer.stop();
    }
  });

  it('that is away makes no token invalid: the fault is named, so that the caller gets 503', async () => {
    const issuer = await startIssuer();
    const check = await withKeys(issuer.url);
    const jwt = await token({}, { alg: 'ES256', kid: 'k1' }).sign(issuer.privateKey);
    await issuer.stop();
    await expect(check(`Bearer ${jwt}`)).rejects.toThrow(KeysUnavailableError);
  });
});
