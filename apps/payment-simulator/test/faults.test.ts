import { randomUUID } from 'node:crypto';
import type { SimulatorAttempt } from '@lapse/contracts';
import { ProviderUnavailableError } from '@lapse/payments';
import { waitUntil } from '@lapse/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openShop, type Shop } from './shop.ts';
import { type SimulatorProcess, startSimulator, testFolder, webhookSecret } from './simulator-process.ts';

const folder = testFolder();
let shop: Shop;
let sim: SimulatorProcess;
beforeAll(async () => {
  shop = await openShop();
  sim = await startSimulator({
    LAPSE_SIM_DIR: folder.dir,
    LAPSE_SIM_WEBHOOK_URL: shop.url,
    LAPSE_SIM_WEBHOOK_SECRET: webhookSecret,
    LAPSE_SIM_FAULTS: '{"seed":7,"duplicate":1}',
  });
});
afterEach(async () => {
  shop.answer = () => 200;
  await sim.setFaults({});
  await quiet();
});
afterAll(async () => {
  sim.app.kill('SIGTERM');
  await sim.app.exited;
  await shop.close();
  folder.remove();
});

const orderId = '0198c0de-7000-7000-8000-000000000001';
const request = (change = {}) => ({
  attemptId: randomUUID(),
  orderId,
  amountMinor: 8_800,
  currency: 'CNY',
  ...change,
});
const open = async (change = {}) => (await sim.provider.createAttempt(request(change))).providerRef;
const paid = async () => {
  const ref = await open();
  await sim.pay(ref, { outcome: 'succeed' });
  return ref;
};
const eventsOf = (ref: string) => shop.events.filter(({ providerRef }) => providerRef === ref);
const capturesOf = async (ref: string) =>
  (await sim.ledger()).captures.filter(({ providerRef }) => providerRef === ref);
const quiet = () =>
  waitUntil(async () => (await sim.ledger()).waiting.events === 0, {
    what: 'all events to be delivered',
    timeoutMs: 30_000,
  });
/** Ask until it is answered, as the shop does. @returns how often it failed. */
const persist = async (ask: () => Promise<unknown>) => {
  for (let failures = 0; ; failures += 1) {
    const error = await ask().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (error === undefined) return failures;
    expect(error).toBeInstanceOf(ProviderUnavailableError);
  }
};

describe('events', () => {
  it('are duplicated from the start when the environment says so: twice, with one id', async () => {
    const reply = await sim.call('GET', '/v1/faults');
    expect(reply.body).toMatchObject({ seed: 7, duplicate: 1 });
    const ref = await paid();
    await quiet();
    const ids = eventsOf(ref).map(({ eventId }) => eventId);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
  });

  it('tell one capture under two ids', async () => {
    await sim.setFaults({ twin: 1 });
    const ref = await paid();
    await quiet();
    expect(new Set(eventsOf(ref).map(({ eventId }) => eventId)).size).toBe(2);
    expect(new Set(eventsOf(ref).map(({ paymentId }) => paymentId)).size).toBe(1);
    expect(await capturesOf(ref)).toHaveLength(1);
  });

  it('bring an older "failed" beside the capture, of the same payment', async () => {
    await sim.setFaults({ staleFailed: 1 });
    const ref = await paid();
    await quiet();
    const captured = eventsOf(ref).find(({ kind }) => kind === 'captured');
    const failed = eventsOf(ref).find(({ kind }) => kind === 'failed');
    expect(failed?.paymentId).toBe(captured?.paymentId);
    expect(failed?.occurredAt.getTime()).toBeLessThan(captured?.occurredAt.getTime() ?? 0);
  });

  it('overtake one another', async () => {
    await sim.setFaults({ reorder: 1, delayMs: 60_000 });
    const first = await paid();
    await sim.setFaults({});
    const second = await paid();
    await quiet();
    const order = shop.events
      .map(({ providerRef }) => providerRef)
      .filter((ref) => ref === first || ref === second);
    expect(order).toEqual([second, first]);
  });

  it('come late', async () => {
    await sim.setFaults({ delay: 1, delayMs: 1_000 });
    const refs = await Promise.all(Array.from({ length: 10 }, paid));
    expect((await sim.ledger()).waiting.events).toBeGreaterThan(0);
    await quiet();
    for (const ref of refs) expect(eventsOf(ref)).toHaveLength(1);
  });

  it('whose first delivery is lost, and those that the shop refuses, are sent until the shop takes them', async () => {
    await sim.setFaults({ dropFirst: 1 });
    let refusals = 0;
    shop.answer = () => {
      refusals += 1;
      return refusals <= 3 ? 503 : 200;
    };
    const ref = await paid();
    await quiet();
    expect(refusals).toBe(4);
    expect(eventsOf(ref)).toHaveLength(1);
  });
});

describe('captures', () => {
  it('of another amount, or in another currency, are what ledger and event both say', async () => {
    await sim.setFaults({ wrongAmount: 1, wrongCurrency: 1 });
    const ref = await paid();
    await quiet();
    expect(await capturesOf(ref)).toMatchObject([{ amountMinor: 8_799, currency: 'EUR' }]);
    expect(eventsOf(ref)).toMatchObject([{ kind: 'captured', amountMinor: 8_799, currency: 'EUR' }]);
    expect(await sim.provider.cancelAttempt(ref)).toMatchObject({ capture: { amountMinor: 8_799 } });
  });

  it('at the last moment win over the cancel, which says so', async () => {
    await sim.setFaults({ captureAtCancel: 1 });
    const ref = await open();
    expect(await sim.provider.cancelAttempt(ref)).toMatchObject({ kind: 'captured' });
    expect(await capturesOf(ref)).toHaveLength(1);
    await quiet();
    expect(eventsOf(ref)).toHaveLength(1);
  });

  it('that are being decided cannot be cancelled, and arrive after the cancel was refused', async () => {
    await sim.setFaults({ processing: 1, processingMs: 300 });
    const ref = await paid();
    expect(await sim.stateOf(ref)).toBe('processing');
    expect(await sim.provider.cancelAttempt(ref)).toEqual({ kind: 'processing' });
    expect(await capturesOf(ref)).toEqual([]);
    await waitUntil(async () => (await sim.provider.cancelAttempt(ref)).kind === 'captured', {
      what: 'the capture',
    });
    expect(await capturesOf(ref)).toHaveLength(1);
  });
});

describe('API calls', () => {
  const faulty = { apiError: 0.5, apiTimeout: 0.2, apiTimeoutMs: 20 };

  it('that fail before or after their work, asked again under their key, do it once', async () => {
    const refs: string[] = [];
    await sim.setFaults(faulty);
    let failures = 0;
    const terms = Array.from({ length: 40 }, () => request());
    for (const each of terms) {
      failures += await persist(async () => {
        const { providerRef } = await sim.provider.createAttempt(each);
        refs.push(providerRef);
      });
    }
    expect(failures).toBeGreaterThan(0);
    expect(new Set(refs).size).toBe(terms.length);

    for (const ref of refs) await sim.pay(ref, { outcome: 'succeed' });
    const { captures } = await sim.ledger();
    const mine = captures.filter(({ providerRef }) => refs.includes(providerRef));
    expect(mine).toHaveLength(terms.length);
    for (const { paymentId, amountMinor, currency } of mine) {
      const refund = { refundId: randomUUID(), paymentId, amountMinor: amountMinor / 2, currency };
      failures += await persist(() => sim.provider.refund(refund));
    }
    const refunds = (await sim.refunds()).filter(({ paymentId }) =>
      mine.some((capture) => capture.paymentId === paymentId),
    );
    expect(refunds).toHaveLength(terms.length);
  });

  it('negative control: without a key the lost answers show as second attempts', async () => {
    await sim.setFaults({ apiError: 0.5 });
    const before = await attemptCount();
    for (let n = 0; n < 20; n += 1) {
      await persist(async () => {
        const reply = await sim.call<SimulatorAttempt>('POST', '/v1/attempts', request());
        if (reply.status !== 200) throw new ProviderUnavailableError(String(reply.status));
      });
    }
    expect((await attemptCount()) - before).toBeGreaterThan(20);
  });

  it('never answered hold nobody longer than told', async () => {
    await sim.setFaults({ apiTimeout: 1, apiTimeoutMs: 100 });
    await expect(sim.provider.createAttempt(request())).rejects.toThrow(ProviderUnavailableError);
    await expect(sim.provider.cancelAttempt('pa_none')).rejects.toThrow(ProviderUnavailableError);
  });
});

describe('two shops', () => {
  it('negative control: events signed with another secret are refused, every one', async () => {
    const other = await openShop(`whsec_${Buffer.alloc(32, 9).toString('base64')}`);
    const place = testFolder();
    const stranger = await startSimulator({
      LAPSE_SIM_DIR: place.dir,
      LAPSE_SIM_WEBHOOK_URL: other.url,
      LAPSE_SIM_WEBHOOK_SECRET: webhookSecret,
      LAPSE_SIM_WEBHOOK_TRIES_MAX: '2',
      LAPSE_SIM_EVENTS_MAX: '10',
      LAPSE_SIM_ATTEMPTS_MAX: '6',
    });
    try {
      const refs: string[] = [];
      for (let n = 0; n < 6; n += 1) {
        refs.push((await stranger.provider.createAttempt(request())).providerRef);
      }
      // Bounded: the seventh is one too many, and so is a payment whose events would have no place.
      await expect(stranger.provider.createAttempt(request())).rejects.toThrow('FULL');
      await stranger.setFaults({ delay: 1, delayMs: 600_000 });
      const statuses = [];
      for (const ref of refs) statuses.push((await stranger.pay(ref, { outcome: 'succeed' })).status);
      expect(statuses).toEqual([200, 200, 200, 200, 200, 503]);
      expect((await stranger.ledger()).captures).toHaveLength(5);
    } finally {
      stranger.app.kill('SIGTERM');
      await stranger.app.exited;
      await other.close();
      place.remove();
    }
    expect(other.events).toEqual([]);
  });

  it('an event that nobody takes is given up after its tries, and said so', async () => {
    const other = await openShop(`whsec_${Buffer.alloc(32, 9).toString('base64')}`);
    const place = testFolder();
    const stranger = await startSimulator({
      LAPSE_SIM_DIR: place.dir,
      LAPSE_SIM_WEBHOOK_URL: other.url,
      LAPSE_SIM_WEBHOOK_SECRET: webhookSecret,
      LAPSE_SIM_WEBHOOK_TRIES_MAX: '2',
    });
    try {
      const { providerRef } = await stranger.provider.createAttempt(request());
      await stranger.pay(providerRef, { outcome: 'succeed' });
      await waitUntil(async () => (await stranger.ledger()).waiting.events === 0, {
        what: 'the event to be given up',
      });
      expect(other.refused).toHaveLength(2);
      expect(other.events).toEqual([]);
      expect(stranger.app.output()).toContain('event given up');
    } finally {
      stranger.app.kill('SIGTERM');
      await stranger.app.exited;
      await other.close();
      place.remove();
    }
  });
});

async function attemptCount(): Promise<number> {
  const text = await (await fetch(`${sim.opsUrl}/metrics`)).text();
  return Number(/^lapse_sim_attempts (\d+)$/m.exec(text)?.[1] ?? Number.NaN);
}
