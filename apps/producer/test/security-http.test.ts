import { connect, type Socket } from 'node:net';
import { waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectionsDropped } from '../src/metrics.ts';
import { type ApiServer, serveApi } from '../src/serve-api.ts';
import { log, openTestApi, openTestStores, type TestApi, type TestStores, tokenFor } from './test-api.ts';

let stores: TestStores;
let api: TestApi;
let server: ApiServer;
const sockets: Socket[] = [];
beforeAll(async () => {
  stores = await openTestStores();
  api = await openTestApi(stores);
  server = await serveApi(api.app, { host: '127.0.0.1', port: 0, connectionsMax: 1_000 }, log);
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await server?.close();
  await api?.close();
  await stores?.close();
});

function open(port = server.port): { socket: Socket; answer: () => string; ended: () => boolean } {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  let answer = '';
  let ended = false;
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    answer += chunk;
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    ended = true;
  });
  return { socket, answer: () => answer, ended: () => ended };
}

async function talk(bytes: string): Promise<string> {
  const { socket, answer, ended } = open();
  socket.write(bytes);
  await waitUntil(async () => ended() || answer().includes('\r\n\r\n'), { what: 'an answer' });
  socket.destroy();
  return answer();
}

describe('limits of a request', () => {
  it('an address longer than the headers may be is refused, and the connection ends', async () => {
    expect(await talk(`GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`)).toMatch(/^HTTP\/1\.1 4\d\d/);
  });

  it('of a thousand headers those beyond the hundredth do not count: refused, or not read by an older Node', async () => {
    const token = await tokenFor('ann');
    const headers = (count: number) => Array.from({ length: count }, (_, n) => `x-${n}: 1`).join('\r\n');
    const ask = (count: number) =>
      talk(
        `GET /v1/orders/019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001 HTTP/1.1\r\nHost: x\r\n${headers(count)}\r\n` +
          `Authorization: Bearer ${token}\r\nConnection: close\r\n\r\n`,
      );
    const answer = await ask(1_000);
    expect(answer).toMatch(/^HTTP\/1\.1 40[01] /);
    if (answer.startsWith('HTTP/1.1 400')) expect(answer).toContain('must be at most 100, and 16384 bytes');
    expect(await ask(90)).toMatch(/^HTTP\/1\.1 404 /);
  });

  it('a body that announces more than 16 KiB is refused before it comes', async () => {
    const token = await tokenFor('boss', { operator: true });
    const headers = `Host: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
    const answer = await talk(`POST /v1/activities HTTP/1.1\r\n${headers}Content-Length: 9999999\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 413/);
  });

  it.each([
    ['two lengths', 'Content-Length: 5\r\nContent-Length: 6'],
    ['a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked'],
    ['an odd encoding', 'Transfer-Encoding: chunked, identity'],
    ['a blank before the colon', 'Transfer-Encoding : chunked'],
  ])('%s, as request smuggling needs them, are refused', async (_name, header) => {
    const answer = await talk(
      `POST /v1/activities HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n0\r\n\r\nGET /v1/activities HTTP/1.1\r\nHost: x\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 (400|501)/);
    expect(answer).not.toContain('"activities"');
  });
});

describe('a crowd of connections', () => {
  it('beyond the limit is hung up on at once; those that are open are served, and when one leaves another may come', async () => {
    const small = await openTestApi(stores);
    const { port, close } = await serveApi(small.app, { host: '127.0.0.1', port: 0, connectionsMax: 3 }, log);
    const request = 'GET /v1/activities HTTP/1.1\r\nHost: x\r\n\r\n';
    try {
      const first = [open(port), open(port), open(port)];
      await waitUntil(async () => (await connections(small)) === 3, { what: 'three connections' });
      const fourth = open(port);
      fourth.socket.write(request);
      await waitUntil(() => fourth.ended(), { what: 'the fourth to be hung up on' });
      expect(fourth.answer()).toBe('');
      expect((await connectionsDropped.get()).values[0]?.value).toBe(1);
      first[0]?.socket.write(request);
      await waitUntil(() => first[0]?.answer().includes('200 OK'), { what: 'the first to be served' });
      first[0]?.socket.destroy();
      await waitUntil(async () => (await connections(small)) < 3, { what: 'a free place' });
      const next = open(port);
      next.socket.write(request);
      await waitUntil(() => next.answer().includes('200 OK'), { what: 'the next to be served' });
      for (const { socket } of [...first, next]) socket.destroy();
    } finally {
      await close();
      await small.close();
    }
  });
});

describe('clients that are slow on purpose', () => {
  it('a body that drips is cut off; two hundred such clients do not keep anybody else waiting', async () => {
    api.app.server.requestTimeout = 1_500;
    const token = await tokenFor('boss', { operator: true });
    const slow = Array.from({ length: 200 }, () => open());
    for (const { socket } of slow) {
      socket.write(
        `POST /v1/activities HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
      );
    }
    const drip = setInterval(() => {
      for (const { socket, ended } of slow) if (!ended()) socket.write(' ');
    }, 100);
    try {
      await waitUntil(async () => (await connections()) >= 200, { what: 'all of them to be connected' });
      const startedAt = performance.now();
      expect(await talk('GET /v1/activities HTTP/1.1\r\nHost: x\r\n\r\n')).toContain('200 OK');
      expect(performance.now() - startedAt).toBeLessThan(1_000);
      await waitUntil(async () => slow.every(({ ended }) => ended()), {
        what: 'every slow client to be cut off',
        timeoutMs: 15_000,
      });
    } finally {
      clearInterval(drip);
    }
    expect(slow[0]?.answer()).toMatch(/408|took too long/);
  });
});

function connections({ app } = api): Promise<number> {
  return new Promise((resolve, reject) => {
    app.server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
}
