import { randomUUID } from 'node:crypto';
import type { SimulatorAttempt } from '@lapse/contracts';
import { waitUntil } from '@lapse/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openShop, type Shop } from './shop.ts';
import {
  apiKey,
  type SimulatorProcess,
  startSimulator,
  testFolder,
  webhookSecret,
} from './simulator-process.ts';

const folder = testFolder();
let shop: Shop;
let sim: SimulatorProcess;
beforeAll(async () => {
  shop = await openShop();
  sim = await startSimulator({
    LAPSE_SIM_DIR: folder.dir,
    LAPSE_SIM_WEBHOOK_URL: shop.url,
    LAPSE_SIM_WEBHOOK_SECRET: webhookSecret,
  });
});
afterEach(async () => {
  shop.answer = () => 200;
  await sim.setFaults({});
});
afterAll(async () => {
  sim.app.kill('SIGTERM');
  const end = await sim.app.exited;
  await shop.close();
  folder.remove();
  expect(end).toEqual({ code: 0, signal: null });
});

const orderId = '0198c0de-7000-7000-8000-000000000001';
const request = (change = {}) => ({
  attemptId: randomUUID(),
  orderId,
  amountMinor: 8_800,
  currency: 'CNY',
  ...change,
});
const open = async (change = {}) => {
  const terms = request(change);
  const { providerRef: ref, payUrl } = await sim.provider.createAttempt(terms);
  return { ...terms, ref, payUrl: payUrl ?? '' };
};
const eventsOf = (ref: string) => shop.events.filter(({ providerRef }) => providerRef === ref);
const capturesOf = async (ref: string) =>
  (await sim.ledger()).captures.filter(({ providerRef }) => providerRef === ref);
const quiet = () =>
  waitUntil(async () => (await sim.ledger()).waiting.events === 0, { what: 'all events to be delivered' });

describe('an attempt', () => {
  it('is one attempt however often it is asked for under its key; other terms under that key are refused', async () => {
    const terms = request();
    const made = await Promise.all(Array.from({ length: 20 }, () => sim.provider.createAttempt(terms)));
    expect(new Set(made.map(({ providerRef }) => providerRef)).size).toBe(1);
    await expect(sim.provider.createAttempt({ ...terms, amountMinor: 1 })).rejects.toThrow('KEY_REUSED');
    // Negative control: it is the key that does it.
    const bare = await Promise.all(
      [1, 2].map(() => sim.call<SimulatorAttempt>('POST', '/v1/attempts', terms)),
    );
    expect(new Set(bare.map(({ body }) => body.providerRef)).size).toBe(2);
  });

  it('that the buyer pays is captured once, and told by a signed event', async () => {
    const { ref, amountMinor, currency } = await open();
    expect(await sim.stateOf(ref)).toBe('open');
    await Promise.all(Array.from({ length: 10 }, () => sim.pay(ref, { outcome: 'succeed' })));
    const status = await sim.provider.cancelAttempt(ref);
    expect(status).toMatchObject({ kind: 'captured', capture: { amountMinor, currency } });
    expect(await sim.stateOf(ref)).toBe('captured');
    expect(await capturesOf(ref)).toHaveLength(1);
    const [event] =
      (await waitUntil(() => (eventsOf(ref).length === 1 ? eventsOf(ref) : undefined), {
        what: 'the event',
      })) ?? [];
    expect(event).toMatchObject({ kind: 'captured', orderId, amountMinor, currency });
    await quiet();
    expect(eventsOf(ref)).toHaveLength(1);
    expect(shop.refused).toEqual([]);
  });

  it('that was cancelled never captures, though the buyer had paid already and it was on its way', async () => {
    const { ref } = await open();
    await sim.pay(ref, { outcome: 'succeed', afterMs: 300 });
    expect(await sim.provider.cancelAttempt(ref)).toEqual({ kind: 'cancelled' });
    expect((await sim.pay(ref, { outcome: 'succeed' })).status).toBe(409);
    await waitUntil(async () => (await sim.ledger()).waiting.payments === 0, { what: 'nothing under way' });
    expect(await sim.stateOf(ref)).toBe('cancelled');
    expect(await capturesOf(ref)).toEqual([]);
  });

  it('that a capture and a cancel race for has exactly one winner, and both see the same one', async () => {
    // The first surely captures before the cancel comes, the last surely not; between them it is a race.
    const waits = [0, 1, 2, 4, 8, 16, 32, 64, 128, 60_000];
    const race = async (_: unknown, n: number) => {
      const { ref } = await open();
      await sim.pay(ref, { outcome: 'succeed', afterMs: waits[n % waits.length] ?? 0 });
      return { ref, answer: await sim.provider.cancelAttempt(ref) };
    };
    const outcomes = await Promise.all(Array.from({ length: 200 }, race));
    const { captures } = await sim.ledger();
    const captured = new Map(captures.map((capture) => [capture.providerRef, capture]));
    for (const { ref, answer } of outcomes) {
      expect(await sim.stateOf(ref)).toBe(answer.kind);
      expect(captured.has(ref)).toBe(answer.kind === 'captured');
    }
    expect(captures.length).toBe(captured.size);
    expect(new Set(outcomes.map(({ answer }) => answer.kind))).toEqual(new Set(['captured', 'cancelled']));
  });

  it('that is declined stays open, is told as failed, and may be paid after all', async () => {
    const { ref } = await open();
    await sim.pay(ref, { outcome: 'decline' });
    expect(await sim.stateOf(ref)).toBe('open');
    await sim.pay(ref, { outcome: 'succeed' });
    await quiet();
    expect(
      eventsOf(ref)
        .map(({ kind }) => kind)
        .sort(),
    ).toEqual(['captured', 'failed']);
  });

  it('that nobody knows is refused', async () => {
    await expect(sim.provider.cancelAttempt('pa_none')).rejects.toThrow('404');
  });
});

describe('a refund', () => {
  const paid = async (change = {}) => {
    const attempt = await open(change);
    await sim.pay(attempt.ref, { outcome: 'succeed' });
    const [capture] = await capturesOf(attempt.ref);
    return { ...attempt, paymentId: capture?.paymentId ?? '' };
  };
  const refundsOf = async (paymentId: string) =>
    (await sim.refunds()).filter((refund) => refund.paymentId === paymentId);

  it('is paid once per id, however often it is asked for', async () => {
    const { paymentId, amountMinor, currency } = await paid();
    const refund = { refundId: randomUUID(), paymentId, amountMinor, currency };
    const answers = await Promise.all(Array.from({ length: 20 }, () => sim.provider.refund(refund)));
    expect(new Set(answers.map(({ refundRef }) => refundRef)).size).toBe(1);
    expect(await refundsOf(paymentId)).toMatchObject([{ refundId: refund.refundId, amountMinor }]);
  });

  it('negative control: without a key the same request pays back twice', async () => {
    const { paymentId, amountMinor, currency } = await paid();
    const half = { paymentId, amountMinor: amountMinor / 2, currency };
    await Promise.all([1, 2].map(() => sim.call('POST', '/v1/refunds', half)));
    expect(await refundsOf(paymentId)).toHaveLength(2);
  });

  it('is never more than the capture, in all, nor in another currency, nor of what was not captured', async () => {
    const { paymentId, amountMinor, currency } = await paid();
    const ask = (change: object) =>
      sim.provider.refund({ refundId: randomUUID(), paymentId, amountMinor, currency, ...change });
    await expect(ask({ amountMinor: amountMinor + 1 })).rejects.toThrow('REFUND_TOO_LARGE');
    await expect(ask({ currency: 'EUR' })).rejects.toThrow('REFUND_CURRENCY');
    await expect(ask({ paymentId: 'pay_none' })).rejects.toThrow('PAYMENT_NOT_FOUND');
    const all = await Promise.allSettled(Array.from({ length: 20 }, () => ask({ amountMinor: 1_000 })));
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(8);
    expect(await refundsOf(paymentId)).toHaveLength(8);
  });

  it('under an id that came with other terms is refused', async () => {
    const { paymentId, amountMinor, currency } = await paid();
    const refund = { refundId: randomUUID(), paymentId, amountMinor, currency };
    await sim.provider.refund(refund);
    await expect(sim.provider.refund({ ...refund, amountMinor: 1 })).rejects.toThrow('KEY_REUSED');
  });

  it('that fails after it was taken is told once, keeps its id, and may be made anew under another', async () => {
    const { ref } = await open();
    await sim.pay(ref, { outcome: 'succeed' });
    const [{ paymentId = '' } = {}] = await capturesOf(ref);
    const refund = { refundId: randomUUID(), paymentId, amountMinor: 8_800, currency: 'CNY' };
    const { refundRef } = await sim.provider.refund(refund);
    for (let asked = 0; asked < 2; asked += 1) {
      const failed = await sim.call('POST', `/v1/refunds/${refundRef}/fail`, {});
      expect([failed.status, failed.body]).toMatchObject([200, { state: 'failed' }]);
    }
    expect(await sim.provider.refund(refund)).toEqual({ kind: 'failed', refundRef, reason: null });
    const anew = await sim.provider.refund({ ...refund, refundId: randomUUID() });
    expect(anew.kind).toBe('refunded');
    await quiet();
    expect(shop.refundFailures).toMatchObject([{ paymentId, refundId: refund.refundId, refundRef }]);
  });

  it('may be pending at first, and is then carried out by itself', async () => {
    await sim.setFaults({ refundPending: 1, processingMs: 200 });
    const { paymentId, amountMinor, currency } = await paid();
    const refund = { refundId: randomUUID(), paymentId, amountMinor, currency };
    expect((await sim.provider.refund(refund)).kind).toBe('pending');
    await waitUntil(async () => (await sim.provider.refund(refund)).kind === 'refunded', {
      what: 'the refund',
    });
    expect(await refundsOf(paymentId)).toHaveLength(1);
  });
});

describe('the API', () => {
  it.each([
    ['no key', {}],
    ['another key', { authorization: 'Bearer another-key-of-the-tests' }],
    ['the key without its scheme', { authorization: apiKey }],
  ])('answers 401 with %s, and does nothing', async (_, headers) => {
    const before = await sim.ledger();
    for (const [method, path] of [
      ['POST', '/v1/attempts'],
      ['POST', '/v1/refunds'],
      ['GET', '/v1/ledger'],
      ['PUT', '/v1/faults'],
      ['POST', '/v1/attempts/pa_1/pay'],
    ] as const) {
      const reply = await fetch(`${sim.url}${path}`, { method, headers });
      expect([path, reply.status]).toEqual([path, 401]);
    }
    expect(await sim.ledger()).toEqual(before);
  });

  it.each([
    ['a fraction', { amountMinor: 0.5 }],
    ['a negative amount', { amountMinor: -1 }],
    ['a currency in lower case', { currency: 'cny' }],
    ['an unknown field', { state: 'captured' }],
    ['an attempt id that is none', { attemptId: 'x' }],
  ])('answers 400 to %s', async (_, change) => {
    const reply = await sim.call<{ code: string }>('POST', '/v1/attempts', request(change));
    expect(reply).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
  });

  it('answers 400 to faults that it does not know, and keeps those it has', async () => {
    await sim.setFaults({ duplicate: 0.5 });
    expect((await sim.call('PUT', '/v1/faults', { duplicates: 1 })).status).toBe(400);
    expect((await sim.call('PUT', '/v1/faults', { duplicate: 2 })).status).toBe(400);
    expect((await sim.call('GET', '/v1/faults')).body).toMatchObject({ duplicate: 0.5 });
  });

  it('refuses a body beyond its limit', async () => {
    expect((await sim.call('POST', '/v1/attempts', { x: 'x'.repeat(10_000) })).status).toBe(413);
  });

  it('pages through the ledger without a gap or a repeat', async () => {
    const whole = await sim.ledger();
    const found: string[] = [];
    for (let after: number | null = 0; after !== null; ) {
      const { body }: { body: typeof whole } = await sim.call('GET', `/v1/ledger?limit=7&after=${after}`);
      found.push(
        ...body.captures.map(({ paymentId }) => paymentId),
        ...body.refunds.map(({ refundRef }) => refundRef),
      );
      after = body.next;
    }
    expect(found.length).toBe(new Set(found).size);
    expect(found.length).toBe(whole.captures.length + whole.refunds.length);
  });
});

describe('the payment page', () => {
  it('takes a payment by a plain form, and shows what became of it', async () => {
    const { ref, payUrl } = await open();
    expect(payUrl).toBe(`${sim.url}/pay/${ref}`);
    const page = await fetch(payUrl);
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(await page.text()).toContain('8800 CNY');
    const form = (outcome: string) =>
      fetch(payUrl, { method: 'POST', body: new URLSearchParams({ outcome }), redirect: 'manual' });
    expect((await form('decline')).status).toBe(303);
    expect(await sim.stateOf(ref)).toBe('open');
    const [first, second] = [await form('succeed'), await form('succeed')];
    expect([first.status, first.headers.get('location')]).toEqual([303, `/pay/${ref}`]);
    expect(second.status).toBe(303);
    const paidPage = await (await fetch(payUrl)).text();
    expect(paidPage).toContain('Paid. Thank you.');
    expect(paidPage).not.toContain('<form');
    expect(await capturesOf(ref)).toHaveLength(1);
  });

  it('cannot be framed, runs nothing, and shows what a shop sent as text', async () => {
    const { payUrl } = await open({ orderId: '<script>"&\'' });
    const page = await fetch(payUrl);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    const html = await page.text();
    expect(html).toContain('&lt;script&gt;&quot;&amp;&#39;');
    expect(html).not.toContain('<script');
  });

  it('of an unknown reference is 404; a form with anything else is 400', async () => {
    expect((await fetch(`${sim.url}/pay/pa_none`)).status).toBe(404);
    const { payUrl, ref } = await open();
    for (const body of [{ outcome: 'steal' }, { outcome: 'succeed', amount: '1' }, {}]) {
      expect((await fetch(payUrl, { method: 'POST', body: new URLSearchParams(body) })).status).toBe(400);
    }
    expect(await sim.stateOf(ref)).toBe('open');
  });
});
