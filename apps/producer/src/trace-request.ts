import type { IncomingMessage } from 'node:http';
import { isTracing, type SpanRef, traceOrders } from '@lapse/runtime';

interface TracedRequest {
  readonly method: string;
  readonly routeOptions: { readonly url?: string | undefined };
  readonly raw: Pick<IncomingMessage, 'headers'>;
}
interface TracedReply {
  readonly statusCode: number;
  readonly elapsedTime: number;
}

const traceparent = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(?:-|$)/;

/**
 * The request that placed an order is the first span of the order's trace. A caller that traces as well has another
 * trace id: the two are linked, because an order's own is its id, which every process knows.
 */
export function traceRequest(request: TracedRequest, reply: TracedReply, orderId: string): void {
  if (!isTracing()) return;
  const endedAtMs = performance.timeOrigin + performance.now();
  traceOrders({
    name: `${request.method} ${request.routeOptions.url}`,
    kind: 'server',
    startedAtMs: endedAtMs - reply.elapsedTime,
    endedAtMs,
    orderIds: [orderId],
    attributes: {
      'http.request.method': request.method,
      'http.route': request.routeOptions.url ?? '',
      'http.response.status_code': reply.statusCode,
    },
    isRoot: true,
    link: callerOf(request.raw.headers.traceparent),
  });
}

function callerOf(header: string | string[] | undefined): SpanRef | undefined {
  const [, traceId, spanId] = traceparent.exec(String(header)) ?? [];
  return traceId !== undefined && spanId !== undefined ? { traceId, spanId } : undefined;
}
