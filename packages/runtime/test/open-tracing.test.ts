import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createLogger, isTracing, registry, traceOrders } from '../src/index.ts';
import { openTracing } from '../src/open-tracing.ts';

const log = createLogger('test', 'silent');
const times = { startedAtMs: 1_700_000_000_000.5, endedAtMs: 1_700_000_000_001 };

/** A collector that answers when it is told to. */
async function openServer(answer: (body: string) => Promise<number>) {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    response.writeHead(await answer(body)).end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function droppedFor(reason: 'queue' | 'export'): Promise<number> {
  const text = await registry.metrics();
  return Number(new RegExp(`spans_dropped_total\\{reason="${reason}"\\} (\\d+)`).exec(text)?.[1]);
}

test('while the collector stands still no more spans wait than are allowed, and the rest is counted', async () => {
  let answer: (status: number) => void = () => undefined;
  const answered = new Promise<number>((resolve) => {
    answer = resolve;
  });
  const bodies: string[] = [];
  const server = await openServer((body) => {
    bodies.push(body);
    return answered;
  });
  const before = await droppedFor('queue');
  const tracing = openTracing('test', { url: server.url, ratio: 1, spansMax: 1_000 }, log);
  for (let order = 0; order < 5_000; order += 1) {
    traceOrders({ ...times, name: 'close', orderIds: [randomUUID()] });
  }
  // 512 are on their way, 1,000 wait.
  expect((await droppedFor('queue')) - before).toBe(3_488);
  answer(200);
  await tracing.close();
  server.close();
  expect(isTracing()).toBe(false);
  const spans = bodies.flatMap((body) => JSON.parse(body).resourceSpans[0].scopeSpans[0].spans);
  expect(spans).toHaveLength(1_512);
  expect(spans[0].startTimeUnixNano).toBe('1700000000000500000');
});

test('a collector that never answers holds a process that stops for 2 s, however much waits; the rest is counted', async () => {
  const server = await openServer(() => new Promise(() => undefined));
  const before = await droppedFor('export');
  const tracing = openTracing('test', { url: server.url, ratio: 1, spansMax: 5_000 }, log);
  for (let order = 0; order < 3_000; order += 1) {
    traceOrders({ ...times, name: 'close', orderIds: [randomUUID()] });
  }
  const startedAt = performance.now();
  await tracing.close();
  // One export alone would be given up after 5 s.
  expect(performance.now() - startedAt).toBeLessThan(4_500);
  expect((await droppedFor('export')) - before).toBe(3_000 - 512);
  server.close();
});

test('orders done together link to one span of their batch; a caller that traces is linked to the first span', async () => {
  const bodies: string[] = [];
  const server = await openServer(async (body) => {
    bodies.push(body);
    return 200;
  });
  const tracing = openTracing('test', { url: `${server.url}/`, ratio: 1, spansMax: 1_000 }, log);
  const orderIds = [randomUUID(), randomUUID()];
  const link = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };
  traceOrders({ ...times, name: 'close', orderIds });
  traceOrders({ ...times, name: 'POST', orderIds: orderIds.slice(0, 1), isRoot: true, link });
  await tracing.close();
  server.close();
  const [batch, first, second, root] = bodies.flatMap(
    (body) => JSON.parse(body).resourceSpans[0].scopeSpans[0].spans,
  );
  expect([first, second].map(({ traceId }) => traceId)).toEqual(orderIds.map((id) => id.replaceAll('-', '')));
  for (const { links } of [first, second]) {
    expect(links[0]).toMatchObject({ traceId: batch.traceId, spanId: batch.spanId });
  }
  expect(batch.attributes).toContainEqual({ key: 'lapse.batch.orders', value: { intValue: 2 } });
  expect(root.spanId).toBe(first.parentSpanId);
  expect(root.parentSpanId).toBeUndefined();
  expect(root.links).toMatchObject([link]);
});
