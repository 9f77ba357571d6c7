import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { problemView } from '@lapse/contracts';
import { createLogger } from '@lapse/runtime';
import { waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestsRefused } from '../src/metrics.ts';
import { serveApi } from '../src/serve-api.ts';
import { log, openTestApi, openTestStores, type TestApi, type TestStores, tokenFor } from './test-api.ts';

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(async () => {
  await stores?.close();
});

/** The API on a real port; closed by the test itself or here. */
async function withServer(
  use: (api: TestApi, port: number, close: () => Promise<void>) => Promise<void>,
  options: Parameters<typeof openTestApi>[1] = {},
) {
  const api = await openTestApi(stores, options);
  const server = await serveApi(api.app, { host: '127.0.0.1', port: 0, connectionsMax: 1_000 }, log);
  try {
    await use(api, server.port, server.close);
  } finally {
    await server.close();
    await api.close();
  }
}

/** Send bytes, and read whatever comes until the server hangs up. */
async function talk(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    answer += chunk;
  });
  // Refused counts as hanging up at once. Not `once`: it would reject.
  socket.on('error', () => {});
  socket.write(bytes);
  await new Promise<void>((resolve) => {
    socket.on('close', () => resolve());
  });
  return answer;
}

/** Requests refused so far, by code. */
async function refused() {
  const { values } = await requestsRefused.get();
  const count = (code: string) => values.find(({ labels }) => labels.code === code)?.value ?? 0;
  return { INTERNAL: count('INTERNAL'), INVALID_REQUEST: count('INVALID_REQUEST') };
}

describe('what is not a proper HTTP request', () => {
  it.each([
    ['is not HTTP', 'hello\r\n\r\n', 'request'],
    [
      'has too many bytes of headers',
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`,
      'headers',
    ],
    [
      'has two lengths',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      'request',
    ],
  ])('%s: a problem document, and the connection ends', async (_name, bytes, field) => {
    await withServer(async (_api, port) => {
      const [head = '', body = ''] = (await talk(port, bytes)).split('\r\n\r\n');
      expect(head).toContain('HTTP/1.1 400');
      expect(head).toContain('application/problem+json');
      expect(problemView.parse(JSON.parse(body)).errors?.[0]?.field).toBe(field);
    });
  });

  it('an unknown method is refused as a problem document', async () => {
    await withServer(async (_api, port) => {
      const answer = await talk(
        port,
        'PROPFIND /v1/activities HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      );
      expect(answer).toMatch(/^HTTP\/1\.1 (404|405)/);
      expect(answer).toContain('application/problem+json');
    });
  });

  it.each(['/v1/activities', '/v1/payments/webhook'])(
    'a body of %s that breaks off half way is the client’s own matter: counted as INVALID_REQUEST, no line in the log',
    async (path) => {
      const lines: string[] = [];
      const log = createLogger('producer-test', 'warn', { write: (line) => lines.push(line) });
      const use = async (api: TestApi, port: number) => {
        const token = await tokenFor('boss', { operator: true });
        const before = await refused();
        const headers = `Host: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
        const socket = connect(port, '127.0.0.1');
        // Not before the API reads the body: until then there is nobody to tell.
        api.app.server.once('request', (request: IncomingMessage) => {
          request.once('resume', () => socket.destroy());
        });
        socket.write(`POST ${path} HTTP/1.1\r\n${headers}Content-Length: 1000\r\n\r\n{"name":`);
        await waitUntil(async () => (await refused()).INVALID_REQUEST > before.INVALID_REQUEST, {
          what: 'the request to be counted',
        });
        expect((await refused()).INTERNAL).toBe(before.INTERNAL);
        expect(lines).toEqual([]);
      };
      await withServer(use, { log });
    },
  );

  it('a client that dawdles with its request is cut off, and told to send it again, not that it is wrong', async () => {
    await withServer(async (api, port) => {
      api.app.server.requestTimeout = 1_000;
      api.app.server.headersTimeout = 800;
      const startedAt = performance.now();
      const answer = await talk(port, 'GET / HTTP/1.1\r\nHost: x\r\n');
      expect(answer).toContain('HTTP/1.1 408');
      expect(answer).toContain('REQUEST_TIMEOUT');
      expect(performance.now() - startedAt).toBeLessThan(5_000);
    });
  });
});

describe('closing the server', () => {
  it('finishes the requests in flight, tells their connections to close, and takes no new ones', async () => {
    await withServer(async (api, port, close) => {
      const activity = await api.createActivity();
      const agent = new Agent({ keepAlive: true });
      // A lock on the activity keeps the insert in flight until we say so.
      let release = (): void => {};
      const locked = new Promise<void>((resolve) => {
        void api.orders
          .rebuildSnapshot(activity.id, async () => {
            resolve();
            await new Promise<void>((go) => {
              release = go;
            });
            throw new Error('rolled back: the test only wanted the lock');
          })
          .catch(() => {});
      });
      await locked;
      const token = await tokenFor('ann');
      const call = request({
        host: '127.0.0.1',
        port,
        agent,
        method: 'POST',
        path: `/v1/activities/${activity.id}/orders`,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'idempotency-key': 'k',
        },
      });
      const answered = once(call, 'response');
      call.end('{}');
      await waitUntil(async () => (await api.stock.readCounts(activity.id))?.held === 1, {
        what: 'the hold',
      });

      const closing = close();
      await waitUntil(
        async () => (await talk(port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')) === '',
        {
          what: 'new connections to be refused',
        },
      );
      release();
      const [response] = await answered;
      expect(response.statusCode).toBe(201);
      expect(response.headers.connection).toBe('close');
      response.resume();
      const startedAt = performance.now();
      await closing;
      expect(performance.now() - startedAt).toBeLessThan(1_000);
      agent.destroy();
    });
  });
});
