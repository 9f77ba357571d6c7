import { waitUntil } from '@lapse/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Collector, openCollector } from '../src/open-collector.ts';
import { openWorld, type World } from '../src/open-world.ts';
import { readExposition } from '../src/read-exposition.ts';
import { renderTrace, traceOf } from '../src/render-trace.ts';

let collector: Collector;
let world: World;

beforeAll(async () => {
  collector = await openCollector();
  world = await openWorld({ LAPSE_TRACES_URL: collector.url });
});
afterAll(async () => {
  await world?.close();
  await collector?.close();
});

test('one order is one trace from its request to the release of its place, across all processes', async () => {
  const orderIds = await world.sell(5);
  const [orderId = ''] = orderIds;
  const trace = () => traceOf(collector.spans(), orderId);
  const stepsOf = (id: string) =>
    traceOf(collector.spans(), id).map(
      ({ service, name }) => `${service}: ${name.replace(/test-\S*?order/, 'order')}`,
    );
  const wanted = [
    ['lapse-producer', 'POST /v1/activities/:id/orders'],
    ['lapse-producer', 'redis reserve'],
    ['lapse-producer', 'mysql created'],
    ['lapse-producer', 'send order-timeout-reminder'],
    ['lapse-reminder', 'receive order-timeout-reminder'],
    ['lapse-reminder', 'mysql reminded'],
    ['lapse-reminder', 'send order-timeout-close'],
    ['lapse-closer', 'receive order-timeout-close'],
    ['lapse-closer', 'mysql closed'],
    ['lapse-closer', 'redis release'],
  ];
  const all = expect.arrayContaining(wanted.map(([service, name]) => `${service}: ${name}`));
  // Each process sends its spans when it is its time, and closes orders in more than one batch.
  const areTold = () => {
    for (const id of orderIds) expect(stepsOf(id)).toEqual(all);
    return true;
  };
  await waitUntil(areTold, { what: 'the spans of all orders' });
  process.stdout.write(`\n${renderTrace(orderId, trace())}\n`);

  // One root, the request; all others are its children, wherever they come from.
  const roots = trace().filter(({ parentSpanId }) => parentSpanId === '');
  expect(roots.map(({ name }) => name)).toEqual(['POST /v1/activities/:id/orders']);
  for (const span of trace().filter((one) => one !== roots[0]))
    expect(span.parentSpanId).toBe(roots[0]?.spanId);
  // What was done for several at once is linked to the span of the batch.
  const batched = trace().filter(({ attributes }) => Number(attributes['lapse.batch.orders']) > 1);
  for (const { links } of batched) {
    expect(collector.spans().filter(({ traceId }) => traceId === links[0]?.traceId)).toHaveLength(1);
  }
});

test('a collector that refuses costs spans, which are counted, and no order', async () => {
  collector.refuseWith(400);
  await world.sell(3);
  await waitUntil(
    async () => {
      const { series } = readExposition(await world.scrape('producer'));
      return series.some(
        ({ name, labels, value }) =>
          name === 'lapse_trace_spans_dropped_total' && labels.reason === 'export' && value > 0,
      );
    },
    { what: 'the dropped spans to be counted' },
  );
});
