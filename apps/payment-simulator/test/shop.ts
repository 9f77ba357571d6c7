import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openWebhookCheck, type PaymentProvider, type ProviderEvent } from '@lapse/payments';
import { readConfig } from '@lapse/runtime';
import { webhookSecret } from './simulator-process.ts';

export interface Shop {
  readonly url: string;
  /** Events whose signature was good, in the order of their arrival, repeats included. */
  readonly events: Extract<ProviderEvent, { kind: 'captured' | 'failed' }>[];
  /** Likewise, of refunds that failed. */
  readonly refundFailures: Extract<ProviderEvent, { kind: 'refund_failed' }>[];
  /** Requests whose signature was not. */
  readonly refused: string[];
  /** Status of the answer to a good event. */
  answer: (event: ProviderEvent) => number;
  close(): Promise<void>;
}

/** The side of the shop: a receiver on loopback that checks each webhook as the API does. */
export async function openShop(secret = webhookSecret): Promise<Shop> {
  const { payment } = readConfig({ LAPSE_PAYMENT_WEBHOOK_SECRET: secret }, ['payment']);
  const check = openWebhookCheck(payment, null as PaymentProvider | null);
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const rawBody = Buffer.concat(chunks).toString();
      const event = check({ rawBody, headers: request.headers });
      if (!event || event.kind === 'other') {
        shop.refused.push(rawBody);
        response.writeHead(401).end();
        return;
      }
      const status = shop.answer(event);
      if (status === 200) {
        if (event.kind === 'refund_failed') shop.refundFailures.push(event);
        else shop.events.push(event);
      }
      response.writeHead(status).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const shop: Shop = {
    url: `http://127.0.0.1:${port}/v1/payments/webhook`,
    events: [],
    refundFailures: [],
    refused: [],
    answer: () => 200,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return shop;
}
