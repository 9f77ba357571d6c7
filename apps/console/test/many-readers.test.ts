import { get, type IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { migrate, type OrderViews, openOrderViews } from '@lapse/order-repository';
import { sleep } from '@lapse/runtime';
import { log, openActivity, openShop, type Shop } from '@lapse/test-shop';
import { waitUntil } from '@lapse/testing';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildApp } from '../src/app.ts';
import { createFanOut, type FanOut } from '../src/fan-out.ts';
import { createSessions, type Sessions } from '../src/sessions.ts';
import { createStreamLimits } from '../src/stream-limits.ts';
import { watchSales } from '../src/watch-sales.ts';

/** People who watch at once. */
const readersWanted = 500;
/** Of them, beside one that does not read. */
const quickReaders = 3;
/** A state of this size fills a connection's buffers soon. */
const filler = 'x'.repeat(100_000);
/** The end of what a reader got that is kept. */
const keptMax = 4_000;

let shop: Shop;
let views: OrderViews;
let app: FastifyInstance;
let fanOut: FanOut;
let sessions: Sessions;
let url: string;
let looks = 0;
let dropped = 0;
let stop: () => Promise<void>;
beforeAll(async () => {
  shop = await openShop();
  await migrate({ url: shop.databaseUrl }, log);
  views = await openOrderViews({ url: shop.databaseUrl, poolMax: 4, queryTimeoutMs: 10_000 }, log);
  const counted: OrderViews = {
    ...views,
    listLiveActivities: (limit) => {
      looks += 1;
      return views.listLiveActivities(limit);
    },
  };
  fanOut = createFanOut({
    onDropped: () => {
      dropped += 1;
    },
  });
  sessions = createSessions('a secret of the tests, of forty characters');
  const sales = watchSales({ views: counted, fanOut, everyMs: 100, log });
  app = await buildApp({
    views,
    fanOut,
    sessions,
    call: async () => {
      throw new Error('nobody calls the API here');
    },
    limits: createStreamLimits({ streams: 1_000, perUser: 1_000, perAddress: 1_000 }),
    mintGuest: null,
    history: { points: () => [], close: async () => undefined },
    wake: () => sales.wake(),
    pageDir: new URL('../dist/public', import.meta.url).pathname,
    streamsMax: 1_000,
    log,
  });
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  stop = async () => {
    await app.close();
    await sales.close();
  };
});
afterAll(async () => {
  await stop?.();
  await views?.close();
  await shop?.close();
});

async function open(
  cookie: string,
  lastEventId?: string,
): Promise<{ stream: IncomingMessage; text: () => string }> {
  let text = '';
  const stream = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { cookie, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) };
    get(`${url}/events/sales`, { headers, agent: false }, resolve).on('error', reject);
  });
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(-keptMax);
  });
  stream.on('error', () => undefined);
  return { stream, text: () => text };
}

it('500 readers cost MySQL as much as one, hear of a sale within two seconds, miss nothing while they are away, and one that does not read is dropped alone', async () => {
  const session = { userId: 'ann', kind: 'buyer', token: 't', expiresAtMs: Date.now() + 600_000 } as const;
  const cookie = `lapse_session=${await sessions.seal(session)}`;
  await openActivity(shop, 100, { name: 'first' });
  const before = process.memoryUsage().rss;
  const readers: Awaited<ReturnType<typeof open>>[] = [];
  for (let at = 0; at < readersWanted; at += 50) {
    readers.push(...(await Promise.all(Array.from({ length: 50 }, () => open(cookie)))));
  }
  await waitUntil(() => readers.every(({ text }) => text().includes('"first"')), { what: 'the first state' });
  const looksBefore = looks;
  const asked = performance.now();
  await openActivity(shop, 100, { name: 'second' });
  await waitUntil(() => readers.every(({ text }) => text().includes('"second"')), { what: 'the news' });
  const newsMs = performance.now() - asked;
  const looksPerSecond = ((looks - looksBefore) * 1_000) / newsMs;
  const megabytes = (process.memoryUsage().rss - before) / 1_000_000;
  expect(fanOut.readers()).toBe(readersWanted);
  expect(newsMs).toBeLessThan(2_000);
  // A look every 100 ms, and no look for each reader.
  expect(looksPerSecond).toBeLessThan(15);
  // Each connection has two ends in this one process.
  expect(megabytes).toBeLessThan(200);

  // All but a few leave. While they are away something is sold; who comes back with the last id hears of it, whoever
  // then comes back with that one hears nothing twice.
  const idIn = (text: string): string => /^id: (.+)$/m.exec(text.slice(text.lastIndexOf('id: ')))?.[1] ?? '';
  const seen = idIn(readers[0]?.text() ?? '');
  for (const { stream } of readers.splice(quickReaders)) stream.destroy();
  await waitUntil(() => fanOut.readers() === quickReaders, { what: 'the others to have left' });
  await openActivity(shop, 100, { name: 'third' });
  await waitUntil(() => readers.every(({ text }) => text().includes('"third"')), { what: 'what they miss' });
  const back = await Promise.all(Array.from({ length: 100 }, () => open(cookie, seen)));
  await waitUntil(() => back.every(({ text }) => text().includes('"third"')), { what: 'what they missed' });
  const upToDate = await open(cookie, idIn(readers[0]?.text() ?? ''));
  await waitUntil(() => upToDate.text().includes('event: clock'), { what: 'the clock' });
  await sleep(500);
  expect(upToDate.text()).not.toContain('event: state');
  for (const { stream } of [...back, upToDate]) stream.destroy();
  await waitUntil(() => fanOut.readers() === quickReaders, { what: 'those to have left' });

  // One connection that takes nothing: its kernel buffers fill, then ours.
  const slow = new Socket();
  slow.on('error', () => undefined);
  await new Promise<void>((resolve) => slow.connect(Number(new URL(url).port), '127.0.0.1', resolve));
  slow.pause();
  slow.write(`GET /events/sales HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\n\r\n`);
  await waitUntil(() => fanOut.readers() === quickReaders + 1, { what: 'the slow reader' });
  let round = 0;
  while (dropped === 0 && round < 500) {
    round += 1;
    fanOut.publish('sales', { filler, round });
    const wanted = `"round":${round}}`;
    await waitUntil(() => readers.every(({ text }) => text().includes(wanted)), { what: wanted, everyMs: 1 });
  }
  expect([dropped, fanOut.readers()]).toEqual([1, quickReaders]);
  slow.destroy();
  for (const { stream } of readers) stream.destroy();
  await waitUntil(() => fanOut.readers() === 0, { what: 'all to have left' });
  process.stdout.write(
    `news after ${newsMs.toFixed(0)} ms, ${megabytes.toFixed(0)} MB for both ends of ${readersWanted} streams\n`,
  );
}, 120_000);
