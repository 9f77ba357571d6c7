import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface StandIn {
  readonly url: string;
  readonly requests: ReceivedRequest[];
  /** What is answered from now on. */
  answer: (request: ReceivedRequest, response: ServerResponse) => void;
  close(): Promise<void>;
}

/** A provider's side of the wire on a free port of this machine: keeps every request, answers as told. */
export async function openStandIn(): Promise<StandIn> {
  const requests: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const received = { method, path, headers, body: Buffer.concat(chunks).toString() };
      requests.push(received);
      standIn.answer(received, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const standIn: StandIn = {
    url: `http://127.0.0.1:${port}`,
    requests,
    answer: (_request, response) => response.writeHead(500).end(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return standIn;
}

export function answerJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_1' });
  response.end(JSON.stringify(body));
}
