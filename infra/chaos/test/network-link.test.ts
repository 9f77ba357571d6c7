import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { waitUntil } from '@lapse/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type NetworkLink, openLink } from '../src/network-link.ts';

/** Answers each piece with the same in capitals, and remembers what came. */
let server: Server;
let upstreamPort: number;
let arrived = '';
let link: NetworkLink;
const clients: Socket[] = [];

beforeAll(async () => {
  server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      arrived += chunk.toString();
      socket.write(chunk.toString().toUpperCase());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  upstreamPort = (server.address() as { port: number }).port;
});
afterAll(() => void server.close());
beforeEach(async () => {
  arrived = '';
  link = await openLink({ upstreamPort, httpConnect: false });
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await link.close();
});

function open(): { socket: Socket; answers: () => string; isClosed: () => boolean } {
  const socket = connect({ port: link.port, host: '127.0.0.1' });
  clients.push(socket);
  let answers = '';
  let closed = false;
  socket.on('data', (chunk) => {
    answers += chunk.toString();
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    closed = true;
  });
  return { socket, answers: () => answers, isClosed: () => closed };
}

async function exchange(client: ReturnType<typeof open>, text: string): Promise<void> {
  const before = client.answers();
  client.socket.write(text);
  await waitUntil(() => client.answers() === before + text.toUpperCase(), { what: `an answer to ${text}` });
}

describe('a link between a process and a service', () => {
  test('passes everything on while nothing is wrong', async () => {
    const client = open();
    await exchange(client, 'one');
    await exchange(client, 'two');
    expect(arrived).toBe('onetwo');
  });

  test('refuse: open connections break, new ones are reset, and afterwards all is well', async () => {
    const before = open();
    await exchange(before, 'one');
    link.setFault('refuse');
    await waitUntil(before.isClosed, { what: 'the open connection to break' });
    const during = open();
    await waitUntil(during.isClosed, { what: 'the new connection to be reset' });
    link.setFault(undefined);
    await exchange(open(), 'two');
  });

  test('blackhole: nothing arrives, nobody is told, and the connection is no good afterwards', async () => {
    const client = open();
    await exchange(client, 'one');
    link.setFault('blackhole');
    client.socket.write('lost');
    // What was sent later on another way has long arrived.
    await exchange(await direct(), 'other');
    expect(arrived).toBe('oneother');
    expect(client.isClosed()).toBe(false);
    link.setFault(undefined);
    await waitUntil(client.isClosed, { what: 'the half-open connection to break' });
  });

  test('answers-lost: the request arrives and its answer does not, as with an ambiguous commit', async () => {
    const client = open();
    await exchange(client, 'one');
    link.setFault('answers-lost');
    client.socket.write('commit');
    await waitUntil(() => arrived === 'onecommit', { what: 'the request to arrive' });
    await exchange(await direct(), 'other');
    expect(client.answers()).toBe('ONE');
  });

  test('stalls: everything arrives in the end, in order', async () => {
    const client = open();
    await exchange(client, 'one');
    link.setFault('stalls');
    client.socket.write('two');
    await exchange(await direct(), 'other');
    expect(arrived).toBe('oneother');
    link.setFault(undefined);
    await waitUntil(() => client.answers() === 'ONETWO', { what: 'the stalled bytes' });
  });

  test('slow: later, and in order', async () => {
    const client = open();
    link.setFault('slow');
    const startedAt = performance.now();
    await exchange(client, 'one');
    expect(performance.now() - startedAt).toBeGreaterThan(500);
  });

  test('resets: a connection breaks in mid-stream, and a new one may be made', async () => {
    link.setFault('resets');
    const client = open();
    client.socket.write('one');
    await waitUntil(client.isClosed, { what: 'the connection to break' });
    link.setFault(undefined);
    await exchange(open(), 'two');
  });

  test('an HTTP CONNECT is answered here, so that gRPC can be led through', async () => {
    await link.close();
    link = await openLink({ upstreamPort, httpConnect: true });
    const client = open();
    client.socket.write('CONNECT 127.0.0.1:9 HTTP/1.1\r\nHost: 127.0.0.1:9\r\n\r\n');
    await waitUntil(() => client.answers().startsWith('HTTP/1.1 200'), { what: 'the tunnel' });
    await exchange(client, 'one');
  });
});

/** Straight to the server: once its answer is here, what was sent before would be here as well. */
async function direct(): Promise<ReturnType<typeof open>> {
  const through = link.port;
  const socket = connect({ port: upstreamPort, host: '127.0.0.1' });
  expect(through).not.toBe(upstreamPort);
  clients.push(socket);
  let answers = '';
  socket.on('data', (chunk) => {
    answers += chunk.toString();
  });
  return { socket, answers: () => answers, isClosed: () => socket.destroyed };
}
