import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export const receiverSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

export interface ReceivedNotice {
  readonly id: string;
  readonly type: string;
  readonly data: Record<string, unknown>;
}

export interface Receiver {
  readonly url: string;
  /** Deliveries with a valid signature, in order. */
  readonly notices: ReceivedNotice[];
  /** Status that every delivery is answered with; null: it is never answered. */
  answer: number | null;
  readonly close: () => Promise<void>;
}

/** A shop's own service that takes signed notices, on the loopback. */
export async function openReceiver(): Promise<Receiver> {
  const webhook = new Webhook(receiverSecret);
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (receiver.answer === null) return;
    if (receiver.answer < 300) {
      // Throws, and so resets the connection, when the signature is wrong.
      const { type, data } = webhook.verify(
        body,
        request.headers as Record<string, string>,
      ) as ReceivedNotice;
      receiver.notices.push({ id: String(request.headers['webhook-id']), type, data });
    }
    response.writeHead(receiver.answer).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/notices`,
    notices: [],
    answer: 204,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}
