import { connect, type Socket } from 'node:net';
import { waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiServer, serveApi } from '../src/serve-api.ts';
import { log, openTestApi, openTestStores, type TestApi, type TestStores, tokenFor } from './test-api.ts';

let stores: TestStores;
let api: TestApi;
let server: ApiServer;
const sockets: Socket[] = [];
beforeAll(async () => {
  stores = await openTestStores();
  api = await openTestApi(stores);
  server = await serveApi(api.app, { host: '127.0.0.1', port: 0 }, log);
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await server?.close();
  await api?.close();
  await stores?.close();
});

function open(): { socket: Socket; answer: () => string; ended: () => boolean } {
  const socket = connect(server.port, '127.0.0.1');
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

  it('a thousand headers are not all read: those beyond the hundredth do not count', async () => {
    const token = await tokenFor('ann');
    const many = Array.from({ length: 200 }, (_, index) => `x-${index}: 1`).join('\r\n');
    const url = '/v1/orders/019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001';
    const tail = `${many}\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`;
    expect(await talk(`GET ${url} HTTP/1.1\r\nHost: x\r\n${tail}`)).toContain('401');
    const head = `Authorization: Bearer ${token}\r\n${many}\r\nConnection: close\r\n\r\n`;
    expect(await talk(`GET ${url} HTTP/1.1\r\nHost: x\r\n${head}`)).toContain('404');
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

describe('clients that are slow on purpose', () => {
  it('a body that drips is cut off; two hundred such clients do not keep anybody else waiting', async () => {
    api.app.server.requestTimeout = 1_500;
    const token = await tokenFor('boss', { operator: true });
    const slow = Array.from({ length: 200 }, open);
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

function connections(): Promise<number> {
  return new Promise((resolve, reject) => {
    api.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
}
