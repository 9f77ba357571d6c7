import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { OrderViews } from '@lapse/order-repository';
import { log } from '@lapse/test-shop';
import { waitUntil } from '@lapse/testing';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildApp } from '../src/app.ts';
import { createFanOut, type FanOut } from '../src/fan-out.ts';
import { createSessions, type Sessions } from '../src/sessions.ts';
import { createStreamLimits } from '../src/stream-limits.ts';

/** As many as by default, and more listeners than Node takes for no leak. */
const perUser = 12;
const order = { id: '019ad0c4-8b1e-7c3a-9f00-3b1c52d6a0aa', userId: 'ann', status: 'PENDING' };

let app: FastifyInstance;
let fanOut: FanOut;
let sessions: Sessions;
let port: number;
/** A look at the order, and its answer. */
let looks: (() => void)[] = [];
beforeAll(async () => {
  fanOut = createFanOut({ onDropped: () => undefined });
  sessions = createSessions('a secret of the tests, of forty characters');
  const watchOrders = () => new Promise((resolve) => looks.push(() => resolve([order])));
  app = await buildApp({
    views: { now: () => 0, watchOrders } as unknown as OrderViews,
    fanOut,
    sessions,
    call: async () => {
      throw new Error('nobody calls the API here');
    },
    limits: createStreamLimits({ streams: 100, perUser, perAddress: 100 }),
    mintGuest: null,
    history: { points: () => [], close: async () => undefined },
    wake: () => undefined,
    pageDir: new URL('../dist/public', import.meta.url).pathname,
    streamsMax: 100,
    log,
  });
  port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
});
afterAll(() => app?.close());

async function connection(): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

async function leave(socket: Socket): Promise<void> {
  socket.destroy();
  const isAlone = () =>
    new Promise<boolean>((resolve) => app.server.getConnections((_error, open) => resolve(open === 0)));
  await waitUntil(isAlone, { what: 'the server to see it' });
}

async function requestOf(userId: string, path: string): Promise<string> {
  const session = { userId, kind: 'buyer', token: 't', expiresAtMs: Date.now() + 600_000 } as const;
  return `GET ${path} HTTP/1.1\r\nHost: x\r\nCookie: lapse_session=${await sessions.seal(session)}\r\n\r\n`;
}

/** As many as this user may have at once, all of them open. */
async function expectAllPlaces(userId: string): Promise<void> {
  const before = fanOut.readers();
  const request = await requestOf(userId, '/events/sales');
  const sockets = await Promise.all(Array.from({ length: perUser }, connection));
  const answers = sockets.map(async (socket) => {
    socket.write(request);
    return String((await once(socket, 'data'))[0]).slice(9, 12);
  });
  const statuses = await Promise.all(answers);
  for (const socket of sockets) socket.destroy();
  expect(statuses).toEqual(Array.from({ length: perUser }, () => '200'));
  await waitUntil(() => fanOut.readers() === before, { what: 'those to have left' });
}

it('who leaves while their order is looked at keeps no place of a live view', async () => {
  for (let left = 0; left < perUser; left += 1) {
    const socket = await connection();
    socket.write(await requestOf('ann', `/events/orders/${order.id}`));
    await waitUntil(() => looks.length > 0, { what: 'the look' });
    await leave(socket);
    for (const answer of looks) answer();
    looks = [];
  }
  await expectAllPlaces('ann');
  expect(fanOut.readers()).toBe(0);
});

it('live views asked for one behind the other on a connection end with it, and give their places back, by one listener', async () => {
  const warned: string[] = [];
  const onWarning = ({ name }: Error): void => void warned.push(name);
  process.on('warning', onWarning);
  const socket = await connection();
  const request = await requestOf('bea', '/events/sales');
  socket.write(request.repeat(perUser));
  await waitUntil(() => fanOut.readers() === perUser, { what: 'all to be open' });
  await leave(socket);
  await expectAllPlaces('bea');
  expect(fanOut.readers()).toBe(0);
  process.off('warning', onWarning);
  expect(warned).toEqual([]);
});
