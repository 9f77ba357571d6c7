import { Counter } from './metrics.ts';

export type SpanKindName = 'internal' | 'server' | 'client' | 'producer' | 'consumer';
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanRef {
  /** 32 and 16 hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;
}

/** What was done for some orders at once. Times are milliseconds since 1970. */
export interface OrdersSpan {
  readonly name: string;
  readonly kind?: SpanKindName;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly orderIds: readonly string[];
  readonly attributes?: SpanAttributes;
  /** The first span of each order, which all others are children of: its HTTP request. */
  readonly isRoot?: true;
  /** Another trace that this came of, such as the caller's. */
  readonly link?: SpanRef | undefined;
}

export const spansExported = new Counter({
  name: 'lapse_trace_spans_exported_total',
  help: 'Spans that the collector took.',
});
export const spansDropped = new Counter({
  name: 'lapse_trace_spans_dropped_total',
  help: 'Spans that were thrown away: too many waited (queue), or the collector did not take them (export).',
  labelNames: ['reason'] as const,
});
for (const reason of ['queue', 'export'] as const) spansDropped.inc({ reason }, 0);

type Sink = (span: OrdersSpan) => void;
let sink: Sink | undefined;
let sampledFrom = 0;

/** Bits of an order's id that decide whether it is traced: exact in a number. */
const randomBits = 48;

/** Turn tracing on, for a share of the orders; without a sink, off. */
export function setTraceSink(next: Sink | undefined, ratio = 1): void {
  sink = next;
  sampledFrom = (1 - ratio) * 2 ** randomBits;
}

export function isTracing(): boolean {
  return sink !== undefined;
}

/**
 * Whether this order is traced. Its id alone decides, so that every process decides alike and nothing is carried: the
 * last digits are random, and are compared as W3C Trace Context 2 and OpenTelemetry compare those of a trace id.
 */
export function isOrderTraced(orderId: string): boolean {
  return Number.parseInt(orderId.slice(-randomBits / 4), 16) >= sampledFrom;
}

/** The trace of an order: its id, a UUID, without the dashes. Whoever knows the order can look it up. */
export function traceIdOf(orderId: string): string {
  return orderId.replaceAll('-', '');
}

/** The span that all others of the order are children of: the random half of its id, never zero in a UUID. */
export function rootSpanIdOf(orderId: string): string {
  return traceIdOf(orderId).slice(16);
}

/**
 * Say what was done for these orders: one span in the trace of each that is traced, and one of the batch, which they
 * link to. Costs one comparison while tracing is off. Never throws and never waits.
 */
export function traceOrders(span: OrdersSpan): void {
  if (sink === undefined) return;
  const orderIds = span.orderIds.filter(isOrderTraced);
  if (orderIds.length > 0) sink({ ...span, orderIds });
}
