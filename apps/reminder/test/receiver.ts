import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export const receiverSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

export interface ReceivedNotice {
  readonly id: string;
  readonly type: string;
  readonly data: Record<string, unknown>;
  /** All of it. */
  readonly body: unknown;
}

type Answer = number | null;

export interface Receiver {
  readonly url: string;
  /** Deliveries with a valid signature, in order. */
  readonly notices: ReceivedNotice[];
  /** Status that a delivery is answered with, or that all are; null: it is never answered. */
  answer: Answer | ((notice: ReceivedNotice) => Answer);
  /** Deliveries begun, answered or not. */
  requests: number;
  readonly close: () => Promise<void>;
}

/** A shop's own service that takes signed notices, on the loopback. */
export async function openReceiver(): Promise<Receiver> {
  const webhook = new Webhook(receiverSecret);
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    receiver.requests += 1;
    // Throws, and so resets the connection, when the signature is wrong.
    const sent = webhook.verify(body, request.headers as Record<string, string>);
    const { type, data } = sent as ReceivedNotice;
    const notice = { id: String(request.headers['webhook-id']), type, data, body: sent };
    const answer = typeof receiver.answer === 'function' ? receiver.answer(notice) : receiver.answer;
    if (answer === null) return;
    if (answer < 300) receiver.notices.push(notice);
    response.writeHead(answer).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/notices`,
    notices: [],
    answer: 204,
    requests: 0,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}
