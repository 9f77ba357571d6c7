import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { type Link, SpanKind, TraceFlags } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { appVersion } from './app-version.ts';
import type { Closable } from './closable.ts';
import type { Logger } from './logger.ts';
import type { TracesConfig } from './settings.ts';
import { timeBox } from './time-box.ts';
import {
  type OrdersSpan,
  rootSpanIdOf,
  type SpanAttributes,
  type SpanRef,
  setTraceSink,
  spansDropped,
  spansExported,
  traceIdOf,
} from './trace-orders.ts';

type Span = Parameters<OTLPTraceExporter['export']>[0][number];

/** Spans of one request to the collector: some 250 KB of JSON. */
const spansPerExportMax = 512;
/** How long spans gather before they go out together. */
const gatherMs = 1_000;
const exportTimeoutMs = 5_000;
/** Longest time that a process which stops waits for its last spans to be taken; some 20 requests when all is well. */
const lastExportsMs = 2_000;

const kinds = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

/**
 * Send spans to a collector that speaks OTLP over HTTP, as JSON. Loaded by a process that traces and by no other: the
 * libraries take 0.1 s of CPU to read.
 *
 * The SDK's tracer and its processor are left out: what there is to say is known when it is over, and of the SDK's queue
 * nobody learns how much it has thrown away. Beyond `spansMax` that wait, and while the collector is away, spans are
 * dropped and counted; an order never waits for its trace. `close` waits for a collector 2 s at most.
 */
export function openTracing(name: string, config: TracesConfig & { url: string }, log: Logger): Closable {
  // Headers, certificates and compression are those of the standard OTEL_EXPORTER_OTLP_* variables.
  const url = new URL('v1/traces', config.url.endsWith('/') ? config.url : `${config.url}/`).href;
  // A connection for each export, one a second: on one kept open, what a collector closed at that moment was lost.
  const httpAgentOptions = { keepAlive: false };
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: exportTimeoutMs, httpAgentOptions });
  const toSpan = createSpanFactory(name);
  const waiting: Span[] = [];
  let exporting: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let troubled = false;

  const push = (span: Span): void => {
    if (waiting.length >= config.spansMax) {
      spansDropped.inc({ reason: 'queue' });
      return;
    }
    waiting.push(span);
    if (waiting.length >= spansPerExportMax) void flush();
    else timer ??= setTimeout(() => void flush(), gatherMs);
  };
  const exportOnce = (spans: Span[]): Promise<void> =>
    new Promise((resolve) => {
      exporter.export(spans, ({ error }) => {
        if (error) spansDropped.inc({ reason: 'export' }, spans.length);
        else spansExported.inc(spans.length);
        if (error && !troubled)
          log.warn({ err: error }, 'the collector of traces does not take spans; they are dropped');
        if (!error && troubled) log.info('the collector of traces takes spans again');
        troubled = error !== undefined;
        resolve();
      });
    });
  const exportAll = async (): Promise<void> => {
    try {
      while (waiting.length > 0) await exportOnce(waiting.splice(0, spansPerExportMax));
    } finally {
      // In the turn of the last look at `waiting`: whoever pushes from now on begins anew.
      exporting = undefined;
    }
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length === 0) return exporting ?? Promise.resolve();
    exporting ??= exportAll();
    return exporting;
  };

  setTraceSink((span) => {
    const batch = span.orderIds.length > 1 ? newRef() : undefined;
    const links = [batch, span.link].flatMap((ref) => (ref ? [toLink(ref)] : []));
    const orders = { ...span.attributes, 'lapse.batch.orders': span.orderIds.length };
    if (batch) push(toSpan(span, batch, undefined, orders, []));
    for (const orderId of span.orderIds) {
      const traceId = traceIdOf(orderId);
      const root = { traceId, spanId: rootSpanIdOf(orderId) };
      const self = span.isRoot ? root : { traceId, spanId: newSpanId() };
      push(
        toSpan(span, self, span.isRoot ? undefined : root, { ...orders, 'lapse.order.id': orderId }, links),
      );
    }
  }, config.ratio);
  log.info({ url, ratio: config.ratio }, 'orders are traced');

  return {
    close: async () => {
      setTraceSink(undefined);
      try {
        await timeBox(flush(), lastExportsMs, 'sending the last spans');
      } catch (error) {
        // What is on its way is counted by its answer, if that still comes. Nothing else holds the exporter open.
        const left = waiting.splice(0).length;
        spansDropped.inc({ reason: 'export' }, left);
        log.warn({ err: error, left }, 'stopping without the last spans: the collector does not take them');
        return;
      }
      await exporter.shutdown();
    },
  };
}

function createSpanFactory(name: string) {
  const version = appVersion();
  const resource = resourceFromAttributes({
    'service.namespace': 'lapse',
    'service.name': `lapse-${name}`,
    'service.version': version,
    'service.instance.id': `${hostname()}:${process.pid}`,
  });
  const fixed = {
    ...{
      resource,
      instrumentationScope: { name: 'lapse', version },
      status: { code: 0 },
      events: [],
      ended: true,
    },
    ...{ droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
  };
  return (
    { name: of, kind = 'internal', startedAtMs, endedAtMs }: OrdersSpan,
    self: SpanRef,
    parent: SpanRef | undefined,
    attributes: SpanAttributes,
    links: Link[],
  ): Span => ({
    ...fixed,
    name: of,
    kind: kinds[kind],
    spanContext: () => ({ ...self, traceFlags: TraceFlags.SAMPLED }),
    ...(parent && { parentSpanContext: { ...parent, traceFlags: TraceFlags.SAMPLED, isRemote: true } }),
    startTime: toTime(startedAtMs),
    endTime: toTime(endedAtMs),
    duration: toTime(endedAtMs - startedAtMs),
    attributes,
    links,
  });
}

/** Seconds and nanoseconds, as OpenTelemetry has them. */
function toTime(ms: number): [number, number] {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1_000_000)];
}

function toLink(ref: SpanRef): Link {
  return { context: { ...ref, traceFlags: TraceFlags.SAMPLED } };
}

function newSpanId(): string {
  return randomBytes(8).toString('hex');
}

function newRef(): SpanRef {
  return { traceId: randomBytes(16).toString('hex'), spanId: newSpanId() };
}
