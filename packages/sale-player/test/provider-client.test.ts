import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OrderView, PaymentWebhookBody, SimulatorAttempt } from '@lapse/contracts';
import { spawnApp, waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProviderClient, type ProviderClient } from '../src/provider-client.ts';

const apiKey = 'a-key-of-the-tests-alone';
const dir = mkdtempSync(join(tmpdir(), 'lapse-demo-'));
const events: PaymentWebhookBody[] = [];
const shop = createServer((request, response) => {
  let text = '';
  request.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  request.on('end', () => {
    events.push(JSON.parse(text) as PaymentWebhookBody);
    response.end('{}');
  });
});
let simulator: ReturnType<typeof spawnApp>;
let url = '';
let provider: ProviderClient;

beforeAll(async () => {
  await once(shop.listen(0, '127.0.0.1'), 'listening');
  simulator = spawnApp(new URL('../../../apps/payment-simulator/', import.meta.url), {
    LAPSE_SIM_API_KEY: apiKey,
    LAPSE_SIM_PORT: '0',
    LAPSE_OPS_PORT: '0',
    LAPSE_SIM_DIR: dir,
    LAPSE_SIM_WEBHOOK_URL: `http://127.0.0.1:${(shop.address() as AddressInfo).port}/`,
    LAPSE_SIM_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    LAPSE_WEBHOOK_ALLOW_PRIVATE: '127.0.0.1',
  });
  await simulator.waitForOutput('"started"');
  const line = simulator
    .output()
    .split('\n')
    .find((text) => text.includes('payment simulator listens'));
  url = `http://127.0.0.1:${JSON.parse(line ?? '{}').port}`;
  provider = createProviderClient({ providerUrl: url, providerKey: apiKey });
});

afterAll(async () => {
  simulator.kill('SIGTERM');
  await simulator.exited;
  shop.close();
  rmSync(dir, { recursive: true, force: true });
});

describe('what the buyers of the demo pay', () => {
  it('is money that the provider took, so that it can be paid back', async () => {
    const order = orderOf(8_800);
    await provider.payOpened(await provider.openPayment(order));
    const { paymentId } = (await eventOf(order.id)).data;
    expect(await askRefund(paymentId)).toBe(200);
    // The negative control: what no buyer paid there is not paid back.
    expect(await askRefund(`pay_${randomUUID()}`)).toBe(404);
  });

  it('is taken once from a page that is paid on twice', async () => {
    const { id, amountMinor, currency } = orderOf(8_800);
    const opened = await post('/v1/attempts', {
      attemptId: randomUUID(),
      orderId: id,
      amountMinor,
      currency,
    });
    const { payUrl } = (await opened.json()) as SimulatorAttempt;
    await provider.payOnPage(payUrl);
    await provider.payOnPage(payUrl);
    await eventOf(id);
    expect(events.filter(({ data }) => data.orderId === id)).toHaveLength(1);
  });

  it('fails loudly on a page that is not there', async () => {
    await expect(provider.payOnPage(`${url}/pay/unknown`)).rejects.toThrow('LAPSE_SALE_PROVIDER');
  });
});

function orderOf(amountMinor: number): OrderView {
  return { id: randomUUID(), amountMinor, currency: 'CNY' } as OrderView;
}

async function eventOf(orderId: string): Promise<PaymentWebhookBody> {
  const find = () => events.find(({ data }) => data.orderId === orderId);
  await waitUntil(() => find() !== undefined, { what: 'the event of the payment' });
  return find() as PaymentWebhookBody;
}

async function askRefund(paymentId: string): Promise<number> {
  return (await post('/v1/refunds', { paymentId, amountMinor: 8_800, currency: 'CNY' })).status;
}

function post(path: string, body: object): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}
