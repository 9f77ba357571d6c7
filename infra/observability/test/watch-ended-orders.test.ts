import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Collector, openCollector } from '../src/open-collector.ts';
import { watchEndedOrders } from '../src/watch-ended-orders.ts';

const spansMax = 5;
let collector: Collector;
let takeEnded: () => string[];

beforeAll(async () => {
  collector = await openCollector({ spansMax });
  takeEnded = watchEndedOrders(collector, 0);
});
afterAll(() => collector?.close());

async function sendSpans(name: string, orderIds: readonly string[]): Promise<void> {
  const spans = orderIds.map((orderId) => ({
    ...{ name, kind: 1, traceId: orderId, spanId: orderId, startTimeUnixNano: '0', endTimeUnixNano: '0' },
    attributes: [{ key: 'lapse.order.id', value: { stringValue: orderId } }],
  }));
  const body = { resourceSpans: [{ resource: { attributes: [] }, scopeSpans: [{ spans }] }] };
  const response = await fetch(`${collector.url}/v1/traces`, { method: 'POST', body: JSON.stringify(body) });
  expect(response.status).toBe(200);
}

test('an order is over when its places are back or sold, and not before', async () => {
  await sendSpans('mysql created', ['a', 'b', 'c', 'd']);
  expect(takeEnded()).toEqual([]);
  await sendSpans('mysql paid', ['a']);
  expect(takeEnded()).toEqual([]);
  await sendSpans('redis confirm', ['a']);
  await sendSpans('redis release', ['b']);
  await sendSpans('mysql reacquired', ['c']);
  expect(takeEnded()).toEqual(['a', 'b', 'c']);
  expect(takeEnded()).toEqual([]);
});

test('orders are still seen once old spans make room for new ones', async () => {
  for (let order = 0; order < 3 * spansMax; order += 1) {
    await sendSpans('redis release', [`order-${order}`]);
    expect(takeEnded()).toEqual([`order-${order}`]);
  }
  expect(collector.spans()).toHaveLength(spansMax);
  // More than is kept between two looks: the newest are seen.
  await sendSpans('redis release', ['1', '2', '3', '4', '5', '6', '7']);
  expect(takeEnded()).toEqual(['3', '4', '5', '6', '7']);
});
