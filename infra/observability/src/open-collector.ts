import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** A span as a person reads it. Times are milliseconds since 1970. */
export interface CollectedSpan {
  readonly service: string;
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
}

export interface Collector {
  readonly url: string;
  /** The spans that are kept, oldest first. */
  spans(): readonly CollectedSpan[];
  /** How many came so far, those that made room included. */
  taken(): number;
  /** From now on answer this instead of taking spans. */
  refuseWith(status: number): void;
  close(): Promise<void>;
}

const spansKept = 200_000;
const bodyBytesMax = 16_777_216;

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}
interface OtlpBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}
interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly KeyValue[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
}

/** A collector of spans in memory: OTLP over HTTP, in JSON, on 127.0.0.1. The oldest spans make room for new ones. */
export async function openCollector({ port = 0, spansMax = spansKept } = {}): Promise<Collector> {
  const kept: CollectedSpan[] = [];
  let taken = 0;
  let refusal: number | undefined;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bodyBytesMax) request.destroy();
      else chunks.push(chunk);
    });
    request.on('end', () => {
      const status = refusal ?? take(request.url, Buffer.concat(chunks), request.headers['content-encoding']);
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
  });

  function take(path: string | undefined, body: Buffer, encoding: string | undefined): number {
    if (path !== '/v1/traces') return 404;
    try {
      const text = (encoding === 'gzip' ? gunzipSync(body) : body).toString('utf8');
      const spans = readSpans(JSON.parse(text) as OtlpBody);
      taken += spans.length;
      kept.push(...spans);
    } catch {
      return 400;
    }
    if (kept.length > spansMax) kept.splice(0, kept.length - spansMax);
    return 200;
  }

  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => kept,
    taken: () => taken,
    refuseWith: (status) => {
      refusal = status;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function readSpans({ resourceSpans }: OtlpBody): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(readAttributes(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ startTimeUnixNano, endTimeUnixNano, ...span }) => ({
        ...{ service, name: span.name, kind: span.kind, traceId: span.traceId, spanId: span.spanId },
        parentSpanId: span.parentSpanId ?? '',
        startedAtMs: Number(startTimeUnixNano) / 1e6,
        endedAtMs: Number(endTimeUnixNano) / 1e6,
        attributes: readAttributes(span.attributes ?? []),
        links: span.links ?? [],
      })),
    );
  });
}

function readAttributes(list: readonly KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]));
}
