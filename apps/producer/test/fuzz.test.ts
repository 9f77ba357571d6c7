import { problemView } from '@lapse/contracts';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  activityBody,
  openTestApi,
  openTestStores,
  type TestApi,
  type TestRequest,
  type TestStores,
} from './test-api.ts';

let stores: TestStores;
let api: TestApi;
let activityId: number;
beforeAll(async () => {
  stores = await openTestStores();
  api = await openTestApi(stores);
  activityId = (await api.createActivity({ capacity: 1_000_000, quantityMax: 100 })).id;
});
afterAll(async () => {
  await api?.close();
  await stores?.close();
});

/** Never 5xx, and every refusal is a problem document. */
async function behaves(request: TestRequest): Promise<number> {
  const reply = await api.send(request);
  expect(reply.statusCode, `${JSON.stringify(request)} -> ${reply.body}`).toBeLessThan(500);
  if (reply.statusCode >= 400) problemView.parse(reply.json());
  return reply.statusCode;
}

const runs = { numRuns: 150 };
const anyText = fc.string({ unit: 'binary', maxLength: 40 });
/** Values near what is right, and far from it. */
const nearNumber = fc.oneof(
  fc.integer({ min: -2, max: 101 }),
  fc.constantFrom(0, -0, 1e12, 1e21, 2 ** 53, 0.1, 1e-300, '1', '', null, true, [], {}),
);

describe('whatever is sent, the API answers and does not fail', () => {
  it('bodies of orders', async () => {
    const body = fc.oneof(
      fc.record({ quantity: nearNumber }, { requiredKeys: [] }),
      fc.dictionary(anyText, fc.jsonValue()),
      fc.jsonValue(),
    );
    let buyer = 0;
    await fc.assert(
      fc.asyncProperty(body, async (value) => {
        buyer += 1;
        await behaves({
          method: 'POST',
          url: `/v1/activities/${activityId}/orders`,
          as: `fuzz-${buyer}`,
          headers: { 'idempotency-key': 'k', 'content-type': 'application/json' },
          body: JSON.stringify(value),
        });
      }),
      runs,
    );
  });

  it('bodies of activities, one field at a time, and what is accepted can be read', async () => {
    const times = fc.constantFrom(
      '2026-12-01T10:00:00Z',
      '0001-01-01T00:00:00Z',
      '9999-12-31T23:59:59.999Z',
      'x',
      null,
      0,
    );
    const change = fc.oneof(
      fc.record({ name: anyText }),
      fc.record({ capacity: nearNumber }),
      fc.record({ priceMinor: nearNumber }),
      fc.record({ currency: fc.oneof(anyText, fc.constant('EUR')) }),
      fc.record({ saleStartsAt: times, saleEndsAt: times }),
      fc.record({ payWithinMs: fc.oneof(nearNumber, fc.constantFrom('30d', 'level:18', '1h')) }),
      fc.record({ quantityMax: nearNumber }),
      fc.record({ [`x${1}`]: fc.jsonValue() }),
    );
    await fc.assert(
      fc.asyncProperty(change, async (fields) => {
        const request = {
          method: 'POST',
          url: '/v1/activities',
          operator: true,
          body: { ...activityBody, ...fields },
        } as const;
        const reply = await api.send(request);
        expect(reply.statusCode, `${JSON.stringify(fields)} -> ${reply.body}`).toBeLessThan(500);
        if (reply.statusCode !== 201) return;
        const read = await api.send({ url: `/v1/activities/${reply.json().id}` });
        expect(read.json()).toEqual(reply.json());
      }),
      runs,
    );
  });

  it('addresses, keys and tokens', async () => {
    const part = fc.oneof(
      anyText,
      fc.constantFrom('..', '%2e%2e', '%00', '*', ':id', '__proto__', 'constructor'),
    );
    await fc.assert(
      fc.asyncProperty(
        part,
        part,
        fc.constantFrom('GET', 'POST', 'DELETE' as const),
        async (id, rest, method) => {
          const path = `/v1/${rest.length % 2 ? 'orders' : 'activities'}/${encodeURIComponent(id.toWellFormed())}`;
          await behaves({ method, url: path, as: 'ann' });
          await behaves({ method, url: `${path}/${encodeURIComponent(rest.toWellFormed())}`, as: 'ann' });
        },
      ),
      runs,
    );
    const headerText = fc.stringMatching(/^[\x21-\x7e][\x20-\x7e]{0,60}$/);
    await fc.assert(
      fc.asyncProperty(headerText, async (text) => {
        const url = `/v1/orders/019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001`;
        expect(await behaves({ url, headers: { authorization: text } })).toBe(401);
        expect(await behaves({ url, headers: { authorization: `Bearer ${text}` } })).toBe(401);
      }),
      runs,
    );
  });

  it('any well-formed buyer: the order is theirs, and reads back', async () => {
    const buyer = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
      .filter((text) => text.length <= 128 && text.isWellFormed() && !/\p{Cc}/u.test(text));
    await fc.assert(
      fc.asyncProperty(buyer, async (name) => {
        const placed = await api.placeOrder(activityId, name, 'fuzz-key');
        expect(placed.statusCode, placed.body).toBe(201);
        const read = await api.send({ url: `/v1/orders/${placed.json().id}`, as: name });
        expect(read.json()).toEqual(placed.json());
      }),
      { numRuns: 60 },
    );
  });
});
