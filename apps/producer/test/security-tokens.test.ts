import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAuthenticator } from '../src/authenticate.ts';
import { auth, jwtSecret } from './test-api.ts';

const claims = () => ({ sub: 'ann', aud: 'lapse', exp: Math.floor(Date.now() / 1_000) + 60 });
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const secret = new TextEncoder().encode(jwtSecret);

/** A login service that signs with RS256. It counts who asks for which address. */
let issuer: {
  url: string;
  asked: string[];
  privateKey: Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
  publicPem: string;
  stop(): Promise<void>;
};
let withKeys: ReturnType<typeof openAuthenticator>;
let withSecret: typeof withKeys;
beforeAll(async () => {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }];
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  issuer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    privateKey,
    publicPem: await exportSPKI(publicKey),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  withKeys = openAuthenticator({ jwksUrl: `${issuer.url}/jwks.json`, audience: 'lapse' });
  withSecret = openAuthenticator(auth);
});
afterAll(() => issuer?.stop());

const kindOf = async (check: typeof withKeys, token: string) => (await check(`Bearer ${token}`)).kind;
const rs256 = (header: Record<string, unknown> = {}) =>
  new SignJWT(claims()).setProtectedHeader({ alg: 'RS256', kid: 'k1', ...header });

describe('a forged token', () => {
  it('the true one is accepted, so that the refusals below mean something', async () => {
    expect(await kindOf(withKeys, await rs256().sign(issuer.privateKey))).toBe('identity');
  });

  it.each(['none', 'None', 'NONE', 'nOnE', ''])('with the algorithm %j is refused', async (alg) => {
    for (const signature of ['', 'x', Buffer.alloc(256).toString('base64url')]) {
      const token = `${part({ alg, kid: 'k1' })}.${part(claims())}.${signature}`;
      expect([await kindOf(withKeys, token), await kindOf(withSecret, token)]).toEqual([
        'invalid',
        'invalid',
      ]);
    }
  });

  it('HMAC by the public key, in any spelling of that key, is refused (algorithm confusion)', async () => {
    const { publicPem } = issuer;
    for (const text of [publicPem, publicPem.trim(), `${publicPem}\n`]) {
      for (const alg of ['HS256', 'HS384', 'HS512']) {
        const key = new TextEncoder().encode(text);
        const token = await new SignJWT(claims()).setProtectedHeader({ alg, kid: 'k1' }).sign(key);
        expect(await kindOf(withKeys, token)).toBe('invalid');
      }
    }
  });

  it('RSA where a shared secret is expected is refused', async () => {
    expect(await kindOf(withSecret, await rs256().sign(issuer.privateKey))).toBe('invalid');
  });

  it.each<unknown>([
    '../../../../dev/null',
    "k1' OR '1'='1",
    'k1\u0000',
    'http://evil.example.com/key',
    ['k1'],
    { toString: 'k1' },
    1,
    'K1',
  ])('with the key id %j is refused', async (kid) => {
    const stranger = await generateKeyPair('RS256');
    for (const key of [stranger.privateKey]) {
      const signed = await new SignJWT(claims()).setProtectedHeader({ alg: 'RS256' }).sign(key);
      const token = `${part({ alg: 'RS256', kid })}.${signed.split('.').slice(1).join('.')}`;
      expect(await kindOf(withKeys, token)).toBe('invalid');
    }
  });

  it('brings its own key (jwk, jku, x5u): the key is not used and no address is asked', async () => {
    const own = await generateKeyPair('RS256', { extractable: true });
    const jwk = await exportJWK(own.publicKey);
    const before = issuer.asked.length;
    for (const header of [{ jwk }, { jku: `${issuer.url}/evil.json` }, { x5u: `${issuer.url}/evil.pem` }]) {
      expect(await kindOf(withKeys, await rs256(header).sign(own.privateKey))).toBe('invalid');
    }
    expect(issuer.asked.slice(before).filter((path) => path.includes('evil'))).toEqual([]);
  });

  it('with an extension that must be understood (crit, b64) is refused', async () => {
    const header = { alg: 'HS256', crit: ['exp'], exp: 1 };
    const token = `${part(header)}.${part(claims())}.${Buffer.alloc(32).toString('base64url')}`;
    expect(await kindOf(withSecret, token)).toBe('invalid');
    const b64 = `${part({ alg: 'HS256', b64: false, crit: ['b64'] })}.${part(claims())}.AAAA`;
    expect(await kindOf(withSecret, b64)).toBe('invalid');
  });

  it('changed in any one character of its signature is refused', async () => {
    const token = await new SignJWT(claims()).setProtectedHeader({ alg: 'HS256' }).sign(secret);
    const start = token.lastIndexOf('.') + 1;
    // The last character carries bits that base64url ignores; the check is for all others.
    for (let at = start; at < token.length - 1; at += 1) {
      const changed = `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
      expect(await kindOf(withSecret, changed)).toBe('invalid');
    }
  });
});

describe('a token that was good once, or elsewhere', () => {
  const signed = (change: object) =>
    new SignJWT({ ...claims(), ...change }).setProtectedHeader({ alg: 'HS256' }).sign(secret);

  it.each<[string, object]>([
    ['sent again after its end', { exp: Math.floor(Date.now() / 1_000) - 60 }],
    ['without an end', { exp: undefined }],
    ['for another service', { aud: 'billing' }],
    ['for a service whose name contains ours', { aud: 'lapse-admin' }],
    ['for no service', { aud: [] }],
  ])('%s is refused', async (_name, change) => {
    expect(await kindOf(withSecret, await signed(change))).toBe('invalid');
  });

  it('whose end is no number is refused', async () => {
    for (const exp of ['9999999999', [9_999_999_999], {}, true]) {
      const body = part({ ...claims(), exp });
      const head = part({ alg: 'HS256' });
      const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, [
        'sign',
      ]);
      const mac = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(`${head}.${body}`));
      const token = `${head}.${body}.${Buffer.from(mac).toString('base64url')}`;
      expect(await kindOf(withSecret, token)).toBe('invalid');
    }
  });

  it('negative control: with the wrong secret configured, a stranger’s token is accepted', async () => {
    const theirs = 'x'.repeat(32);
    const careless = openAuthenticator({ ...auth, jwtSecret: theirs });
    const token = await new SignJWT(claims())
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode(theirs));
    expect([await kindOf(careless, token), await kindOf(withSecret, token)]).toEqual(['identity', 'invalid']);
  });
});
