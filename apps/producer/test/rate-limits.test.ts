import { openRateLimits } from '@lapse/rate-limits';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  log,
  openTestApi,
  openTestStores,
  signedWebhook,
  type TestApi,
  type TestStores,
  tokenFor,
} from './test-api.ts';

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(async () => {
  await stores?.close();
});

interface Limits {
  readonly buyerWritesMax?: number;
  readonly addressRequestsMax?: number;
  readonly trustProxy?: readonly string[];
}

/** One process with limits of its own. */
async function withLimits(
  { buyerWritesMax = 0, addressRequestsMax = 0, trustProxy }: Limits,
  use: (api: TestApi) => Promise<void>,
): Promise<void> {
  const config = { url: stores.redisUrl, commandTimeoutMs: 1_000, buyerWritesMax, addressRequestsMax };
  const limits = openRateLimits(config, log);
  const api = await openTestApi(stores, { limits, ...(trustProxy === undefined ? {} : { trustProxy }) });
  try {
    await use(api);
  } finally {
    await api.close();
    await limits.close();
    await stores.flushRedis();
  }
}

const read = (api: TestApi, remoteAddress: string, headers: Record<string, string> = {}) =>
  api.app.inject({ url: '/v1/activities/999', remoteAddress, headers });
const statuses = async (count: number, ask: () => Promise<{ statusCode: number }>) => {
  const all: number[] = [];
  for (let number = 0; number < count; number += 1) all.push((await ask()).statusCode);
  return all;
};

describe('the limit of a buyer', () => {
  it('answers 429 with Retry-After beyond it, whatever the address; other buyers are not touched', async () => {
    await withLimits({ buyerWritesMax: 5 }, async (api) => {
      const activity = await api.createActivity();
      const ask = () => api.placeOrder(activity.id, 'ann', 'k');
      expect(await statuses(8, ask)).toEqual([201, 201, 201, 201, 201, 429, 429, 429]);
      const refused = await ask();
      expect(refused.json().code).toBe('TOO_MANY_REQUESTS');
      const seconds = Number(refused.headers['retry-after']);
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(60);
      expect((await api.placeOrder(activity.id, 'bob', 'k')).statusCode).toBe(201);
      expect((await api.send({ url: `/v1/activities/${activity.id}`, as: 'ann' })).statusCode).toBe(200);
    });
  });

  it('negative control: with the limit off nothing is refused', async () => {
    await withLimits({}, async (api) => {
      const activity = await api.createActivity();
      const all = await statuses(30, () => api.placeOrder(activity.id, 'cat', 'k'));
      expect(new Set(all)).toEqual(new Set([201]));
    });
  });
});

describe('the limit of an address', () => {
  it('is before every address and method, known or not, but the signed ones of the payment provider', async () => {
    await withLimits({ addressRequestsMax: 1 }, async (api) => {
      const { paths } = (await api.send({ url: '/openapi.json' })).json();
      const described = Object.entries<Record<string, unknown>>(paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => [method.toUpperCase(), path.replaceAll(/{[^}]+}/g, '1')]),
      );
      expect(described.length).toBeGreaterThan(20);
      const others = [
        ...['/', '/openapi.json', '/problems', '/docs/', '/docs/static/swagger-ui.css', '/nowhere'],
        ...['/v1/payments/webhook', '/v1/payments/stripe/webhook'],
      ].map((url) => ['GET', url]);
      const odd = [
        ['HEAD', '/v1/activities/1'],
        ['DELETE', '/v1/activities/1'],
        ['OPTIONS', '/nowhere'],
      ];
      const answers: Record<string, number> = {};
      for (const [method = '', url = ''] of [...described, ...others, ...odd]) {
        const remoteAddress = '203.0.113.77';
        const { statusCode } = await api.app.inject({ method: method as 'GET', url, remoteAddress });
        answers[`${method} ${url}`] = statusCode;
      }
      const unlimited = Object.keys(answers).filter((asked) => answers[asked] !== 429);
      // The first request of all is the one that is left.
      const [first = ''] = Object.keys(answers);
      const signed = ['POST /v1/payments/webhook', 'POST /v1/payments/stripe/webhook'];
      expect(unlimited.filter((asked) => asked !== first && !signed.includes(asked))).toEqual([]);
      expect(unlimited).toContain(first);
    });
  });

  it('comes before the token is looked at; the machine itself has none', async () => {
    await withLimits({ addressRequestsMax: 5 }, async (api) => {
      const withBadToken = () => read(api, '203.0.113.1', { authorization: 'Bearer x' });
      expect(await statuses(7, withBadToken)).toEqual([404, 404, 404, 404, 404, 429, 429]);
      expect((await read(api, '203.0.113.2')).statusCode).toBe(404);
      expect(new Set(await statuses(20, () => read(api, '127.0.0.1')))).toEqual(new Set([404]));
    });
  });

  it('cannot be escaped by X-Forwarded-For: without a trusted proxy it is not read', async () => {
    await withLimits({ addressRequestsMax: 5 }, async (api) => {
      let forged = 0;
      const ask = () => {
        forged += 1;
        return read(api, '203.0.113.3', { 'x-forwarded-for': `198.51.100.${forged}` });
      };
      expect(await statuses(7, ask)).toEqual([404, 404, 404, 404, 404, 429, 429]);
    });
  });

  it('behind a trusted proxy counts the address that the proxy saw, not one that the client wrote before it', async () => {
    await withLimits({ addressRequestsMax: 5, trustProxy: ['10.0.0.0/8'] }, async (api) => {
      let forged = 0;
      const via = (proxy: string, client: string) => () => {
        forged += 1;
        return read(api, proxy, { 'x-forwarded-for': `198.51.100.${forged}, ${client}` });
      };
      expect(await statuses(7, via('10.0.0.1', '203.0.113.4'))).toEqual([404, 404, 404, 404, 404, 429, 429]);
      expect((await via('10.0.0.1', '203.0.113.5')()).statusCode).toBe(404);
      // From somewhere else the header means nothing.
      expect(await statuses(6, via('192.0.2.7', '203.0.113.6'))).toEqual([404, 404, 404, 404, 404, 429]);
    });
  });

  it('does not stop the payment provider, and stops one who forges its signature', async () => {
    await withLimits({ addressRequestsMax: 5 }, async (api) => {
      const event = JSON.stringify({
        type: 'payment.failed',
        timestamp: new Date().toISOString(),
        data: {
          paymentId: 'p',
          orderId: '019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001',
          amountMinor: 1,
          currency: 'CNY',
        },
      });
      const signed = () => api.app.inject({ ...signedWebhook(event), remoteAddress: '203.0.113.8' });
      expect(await statuses(12, signed)).not.toContain(429);
      const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;
      const forged = () =>
        api.app.inject({ ...signedWebhook(event, { secret }), remoteAddress: '203.0.113.9' });
      expect(await statuses(7, forged)).toEqual([401, 401, 401, 401, 401, 429, 429]);
    });
  });
});

it('counts what a signed route cannot read like a wrong signature: too large, or of another type', async () => {
  await withLimits({ addressRequestsMax: 5 }, async (api) => {
    const post = (remoteAddress: string, type: string, payload: string) => () =>
      api.app.inject({
        method: 'POST',
        url: '/v1/payments/webhook',
        headers: { 'content-type': type },
        payload,
        remoteAddress,
      });
    const large = post('203.0.113.10', 'application/json', 'x'.repeat(17_000));
    expect(await statuses(7, large)).toEqual([413, 413, 413, 413, 413, 429, 429]);
    const text = post('203.0.113.11', 'text/plain', 'x');
    expect(await statuses(7, text)).toEqual([415, 415, 415, 415, 415, 429, 429]);
    // The provider's own events are taken all the same, from whatever address.
    const event = JSON.stringify({ type: 'payout.paid', timestamp: 'whenever', data: 7 });
    const signed = () => api.app.inject({ ...signedWebhook(event), remoteAddress: '203.0.113.11' });
    expect(await statuses(3, signed)).toEqual([200, 200, 200]);
  });
});

it('costs a request little: the same load with and without limits', async () => {
  const cost = async (limits: Limits): Promise<number> => {
    let usEach = 0;
    await withLimits(limits, async (api) => {
      const headers = { authorization: `Bearer ${await tokenFor('ann')}` };
      const load = async (count: number) => {
        for (let done = 0; done < count; done += 50) {
          await Promise.all(Array.from({ length: 50 }, () => read(api, '203.0.113.20', headers)));
        }
      };
      await load(500);
      const before = process.cpuUsage();
      await load(3_000);
      const { user, system } = process.cpuUsage(before);
      usEach = (user + system) / 3_000;
    });
    return usEach;
  };
  await cost({});
  const without = await cost({});
  const limited = await cost({ addressRequestsMax: 10_000_000, buyerWritesMax: 120 });
  process.stdout.write(
    `a request costs ${without.toFixed(0)} us of CPU without limits, ${limited.toFixed(0)} with them\n`,
  );
  // The difference is noise on a busy machine; a round trip for each request would show.
  expect(limited).toBeLessThan(without * 2 + 100);
});
