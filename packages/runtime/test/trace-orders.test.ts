import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { createLogger, traceOrders } from '../src/index.ts';
import {
  isOrderTraced,
  type OrdersSpan,
  rootSpanIdOf,
  setTraceSink,
  traceIdOf,
} from '../src/trace-orders.ts';

const times = { name: 'close', startedAtMs: 1, endedAtMs: 2 };
afterEach(() => setTraceSink(undefined));

test('an order is traced by its id alone: a hundredth of them, the same ones in every process', () => {
  const seen: OrdersSpan[] = [];
  setTraceSink((span) => void seen.push(span), 0.01);
  const orderIds = Array.from({ length: 50_000 }, () => randomUUID());
  traceOrders({ ...times, orderIds });
  const traced = seen.flatMap((span) => span.orderIds);
  expect(traced.length).toBeGreaterThan(350);
  expect(traced.length).toBeLessThan(650);
  // Another share takes all of the smaller one, and more.
  setTraceSink(() => undefined, 0.5);
  expect(traced.every(isOrderTraced)).toBe(true);
});

test('a share of nothing traces nothing, one of all traces all', () => {
  const seen: OrdersSpan[] = [];
  const orderIds = ['019ad0c4-6d7a-7cc0-8000-000000000000', '019ad0c4-6d7a-7cc0-bfff-ffffffffffff'];
  setTraceSink((span) => void seen.push(span), 0);
  traceOrders({ ...times, orderIds });
  expect(seen).toEqual([]);
  setTraceSink((span) => void seen.push(span), 1);
  traceOrders({ ...times, orderIds });
  expect(seen).toEqual([{ ...times, orderIds }]);
});

test('the ids of a trace are those of its order, and never all zeros', () => {
  const orderId = '019ad0c4-6d7a-7cc0-8000-000000000000';
  expect(traceIdOf(orderId)).toBe('019ad0c46d7a7cc08000000000000000');
  expect(rootSpanIdOf(orderId)).toBe('8000000000000000');
});

test('a log line about one order names its trace, while it is traced', () => {
  const lines: Record<string, unknown>[] = [];
  const log = createLogger('test', 'info', { write: (line) => void lines.push(JSON.parse(line)) });
  const orderId = randomUUID();
  log.info({ orderId }, 'off');
  setTraceSink(() => undefined);
  log.info({ orderId }, 'on');
  log.info('about none');
  expect(lines.map(({ traceId }) => traceId)).toEqual([undefined, orderId.replaceAll('-', ''), undefined]);
});
