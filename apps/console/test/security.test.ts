import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSessions } from '../src/sessions.ts';
import { type ShopProcesses, startShop } from './shop-processes.ts';

let shop: ShopProcesses;
beforeAll(async () => {
  shop = await startShop({
    LAPSE_CONSOLE_STREAMS_MAX: '3',
    LAPSE_CONSOLE_STREAMS_PER_USER: '2',
    LAPSE_CONSOLE_STREAMS_PER_ADDRESS: '1',
    LAPSE_CONSOLE_TRUST_PROXY: 'loopback',
  });
});
afterAll(async () => {
  await shop?.close();
});

interface Reply {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

/** Any header may be set, Origin among them, which fetch does not allow. */
function send(method: string, path: string, headers: Record<string, string>, body = ''): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(`${shop.pageUrl}${path}`, { method, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
const json = { 'content-type': 'application/json' };
async function guestCookie(): Promise<string> {
  const reply = await send('POST', '/api/session/guest', { ...json, origin: shop.pageUrl }, '{}');
  return String(reply.headers['set-cookie']).split(';')[0] ?? '';
}

describe('the page’s server', () => {
  it('a change that comes from another site, from nowhere, or from a form is refused', async () => {
    const cookie = await guestCookie();
    const id = await shop.openActivity({ name: 'Target' });
    const path = `/api/activities/${id}/orders`;
    const own = { cookie, origin: shop.pageUrl, 'idempotency-key': 'k-1' };
    const statuses = [
      await send('POST', path, { ...own, ...json, origin: 'https://evil.example' }, '{}'),
      await send('POST', path, { ...json, cookie, 'idempotency-key': 'k-1' }, '{}'),
      await send('POST', path, { ...own, 'content-type': 'text/plain' }, '{}'),
      await send('POST', path, { ...own, ...json }, '{}'),
    ].map(({ status }) => status);
    expect(statuses).toEqual([403, 403, 415, 201]);
  });

  it('its policy allows nothing inline, and every answer carries it, live views as well', async () => {
    const cookie = await guestCookie();
    const page = await send('GET', '/', {});
    const api = await send('GET', '/api/session', { cookie });
    const none = await send('GET', '/nothing/here', {});
    for (const { headers } of [page, api, none]) {
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toContain('unsafe');
    }
    const stream = await fetch(`${shop.pageUrl}/events/sales`, { headers: { cookie } });
    expect(stream.headers.get('content-security-policy')).toContain("default-src 'none'");
    await stream.body?.cancel();
  });

  it('a cookie that was changed, or of another secret, or that has expired, is nobody’s', async () => {
    const cookie = await guestCookie();
    const kindOf = async (value: string): Promise<string> =>
      JSON.parse((await send('GET', '/api/session', { cookie: value })).body).kind;
    expect(await kindOf(cookie)).toBe('guest');
    const middle = Math.floor(cookie.length / 2);
    const changed = `${cookie.slice(0, middle)}${cookie[middle] === 'A' ? 'B' : 'A'}${cookie.slice(middle + 1)}`;
    expect(await kindOf(changed)).toBe('none');
    const session = {
      userId: 'eve',
      kind: 'operator',
      token: 't',
      expiresAtMs: Date.now() + 60_000,
    } as const;
    const foreign = await createSessions('another secret of thirty-two characters').seal(session);
    expect(await kindOf(`lapse_session=${foreign}`)).toBe('none');
    const sessions = createSessions('one secret of at least thirty-two characters');
    expect(await sessions.open(await sessions.seal(session))).toMatchObject({ userId: 'eve' });
    expect(
      await sessions.open(await sessions.seal({ ...session, expiresAtMs: Date.now() - 1_000 })),
    ).toBeNull();
  });

  it('a token that the API does not believe opens no session', async () => {
    const own = { ...json, origin: shop.pageUrl };
    const forged = `${(await shop.tokenFor('eve', 'operator')).split('.').slice(0, 2).join('.')}.forged`;
    const reply = await send('POST', '/api/session', own, JSON.stringify({ token: forged }));
    expect([reply.status, reply.headers['set-cookie']]).toEqual([401, undefined]);
    const long = await send('POST', '/api/session', own, JSON.stringify({ token: 'x'.repeat(9_000) }));
    expect(long.status).toBe(401);
  });

  it('one user gets so many live views and no more, all together so many; a closed one is free again', async () => {
    const [ann, bea] = [await guestCookie(), await guestCookie()];
    const open = (cookie: string) => fetch(`${shop.pageUrl}/events/sales`, { headers: { cookie } });
    const first = await open(ann);
    const second = await open(ann);
    const tooMany = await open(ann);
    const third = await open(bea);
    const full = await open(bea);
    expect([first, second, tooMany, third, full].map(({ status }) => status)).toEqual([
      200, 200, 429, 200, 503,
    ]);
    await first.body?.cancel();
    let again = await open(bea);
    for (let tries = 0; again.status !== 200 && tries < 50; tries += 1) again = await open(bea);
    expect(again.status).toBe(200);
    for (const { body } of [second, third, again]) await body?.cancel();
  });

  it('new guests of one address get no more live views than it may have: who was told so signs in', async () => {
    const open = (cookie: string, address: string) =>
      fetch(`${shop.pageUrl}/events/sales`, { headers: { cookie, 'x-forwarded-for': address } });
    const own = { ...json, origin: shop.pageUrl };
    const body = JSON.stringify({ token: await shop.tokenFor('ann') });
    const signedIn = String((await send('POST', '/api/session', own, body)).headers['set-cookie']);
    const views = [
      await open(await guestCookie(), '203.0.113.9'),
      await open(await guestCookie(), '203.0.113.9'),
      await open(await guestCookie(), '203.0.113.10'),
      await open(signedIn.split(';')[0] ?? '', '203.0.113.9'),
    ];
    expect(views.map(({ status }) => status)).toEqual([200, 429, 200, 200]);
    expect(await views[1]?.json()).toMatchObject({
      code: 'TOO_MANY_REQUESTS',
      detail: expect.stringContaining('sign in'),
    });
    for (const view of views) if (view.status === 200) await view.body?.cancel();
  });

  it('nobody’s, unknown and foreign things are told alike, and a wrong address is 404', async () => {
    const cookie = await guestCookie();
    const unknown = '0198c0de-7000-7000-8000-000000000001';
    const { id } = await shop.placeOrder(await shop.openActivity({ name: 'Foreign' }), 'ann');
    expect((await send('GET', `/events/orders/${id}`, {})).status).toBe(401);
    expect((await send('GET', `/events/orders/${unknown}`, { cookie })).status).toBe(404);
    expect((await send('GET', `/events/orders/${id}`, { cookie })).status).toBe(404);
    expect((await send('GET', '/api/ops/../../v1/activities', { cookie })).status).toBe(404);
    expect((await send('GET', '/assets/../index.html', { cookie })).status).toBe(404);
  });
});
