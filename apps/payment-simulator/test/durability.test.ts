import { randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnApp, waitUntil } from '@lapse/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openShop, type Shop } from './shop.ts';
import {
  apiKey,
  type SimulatorProcess,
  startSimulator,
  testFolder,
  webhookSecret,
} from './simulator-process.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

let folder = testFolder();
const running = new Set<SimulatorProcess>();
const start = async () => {
  const sim = await startSimulator({
    LAPSE_SIM_DIR: folder.dir,
    LAPSE_SIM_WEBHOOK_URL: shop.url,
    LAPSE_SIM_WEBHOOK_SECRET: webhookSecret,
  });
  running.add(sim);
  return sim;
};
const kill = async (sim: SimulatorProcess) => {
  running.delete(sim);
  sim.app.kill('SIGKILL');
  await sim.app.exited;
};
afterEach(async () => {
  for (const sim of running) await kill(sim);
  folder.remove();
  folder = testFolder();
  shop.answer = () => 200;
});

const orderId = '0198c0de-7000-7000-8000-000000000001';
const request = () => ({ attemptId: randomUUID(), orderId, amountMinor: 8_800, currency: 'CNY' });
const eventsOf = (ref: string) => shop.events.filter(({ providerRef }) => providerRef === ref);

describe('killed at once, and started again on its folder', () => {
  it('nothing that was acknowledged is lost, no money moves twice, every event arrives', async () => {
    shop.answer = () => 503;
    const first = await start();
    const acknowledged = {
      paid: new Set<string>(),
      cancelled: new Set<string>(),
      refunds: new Map<string, string>(),
    };
    /** One buyer after another until the process is gone. */
    const buyer = async () => {
      for (let n = 0; ; n += 1) {
        const terms = request();
        const { providerRef: ref } = await first.provider.createAttempt(terms);
        if (n % 5 === 4) {
          const status = await first.provider.cancelAttempt(ref);
          if (status.kind === 'cancelled') acknowledged.cancelled.add(ref);
        }
        const reply = await first.pay(ref, { outcome: 'succeed' });
        if (reply.body.state !== 'captured' || !reply.body.capture) continue;
        acknowledged.paid.add(ref);
        const { paymentId, amountMinor, currency } = reply.body.capture;
        const refund = { refundId: randomUUID(), paymentId, amountMinor, currency };
        const answer = await first.provider.refund(refund);
        acknowledged.refunds.set(refund.refundId, answer.refundRef);
        if (acknowledged.paid.size >= 40 && running.has(first)) void kill(first);
      }
    };
    await Promise.allSettled(Array.from({ length: 4 }, buyer));
    expect(acknowledged.paid.size).toBeGreaterThanOrEqual(40);

    shop.answer = () => 200;
    const second = await start();
    const { captures } = await second.ledger();
    const captured = captures.map(({ providerRef }) => providerRef);
    expect(new Set(captured).size).toBe(captured.length);
    for (const ref of acknowledged.paid) expect(captured).toContain(ref);
    for (const ref of acknowledged.cancelled) {
      expect(await second.stateOf(ref)).toBe('cancelled');
    }
    const refunds = new Map((await second.refunds()).map((refund) => [refund.refundId, refund.refundRef]));
    for (const [refundId, refundRef] of acknowledged.refunds) expect(refunds.get(refundId)).toBe(refundRef);
    await waitUntil(() => captured.every((ref) => eventsOf(ref).length > 0), {
      what: 'an event for every capture',
      timeoutMs: 30_000,
    });
  });

  it('a payment that was under way is carried out, and an idempotency key is still known', async () => {
    const first = await start();
    const terms = request();
    const { providerRef: ref } = await first.provider.createAttempt(terms);
    await first.pay(ref, { outcome: 'succeed', afterMs: 1_500 });
    await kill(first);
    const second = await start();
    expect((await second.provider.createAttempt(terms)).providerRef).toBe(ref);
    await waitUntil(async () => (await second.stateOf(ref)) === 'captured', {
      what: 'the capture',
    });
    await waitUntil(() => eventsOf(ref).length === 1, { what: 'its event' });
  });
});

describe('the journal', () => {
  const path = () => join(folder.dir, 'journal.jsonl');

  it('that ends in the middle of a line is read up to there, and goes on after it', async () => {
    const first = await start();
    const { providerRef: ref } = await first.provider.createAttempt(request());
    await kill(first);
    appendFileSync(path(), '{"kind":"cancelled","ref":"');
    const second = await start();
    expect(await second.stateOf(ref)).toBe('open');
    await second.pay(ref, { outcome: 'succeed' });
    await kill(second);
    const third = await start();
    expect(await third.stateOf(ref)).toBe('captured');
  });

  it('that would move money twice stops the start, naming the line (negative control of the rules)', async () => {
    const first = await start();
    const { providerRef: ref } = await first.provider.createAttempt(request());
    await first.pay(ref, { outcome: 'succeed' });
    await kill(first);
    const captured = readFileSync(path(), 'utf8')
      .split('\n')
      .find((line) => line.includes('"captured"'));
    appendFileSync(path(), `${captured}\n`);
    const app = spawnApp(new URL('..', import.meta.url), {
      LAPSE_SIM_DIR: folder.dir,
      LAPSE_SIM_API_KEY: apiKey,
      LAPSE_SIM_PORT: '0',
    });
    expect(await app.exited).toEqual({ code: 1, signal: null });
    expect(app.output()).toMatch(/line \d+ of .*journal.jsonl cannot be replayed/);
  });
});
