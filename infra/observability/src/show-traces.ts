import { openCollector } from './open-collector.ts';
import { renderTrace, traceOf } from './render-trace.ts';

/** The usual port of OTLP over HTTP. */
const portDefault = 4_318;
/** An order's trace is shown when its places are back, and no span of it came for so long. */
const quietMs = 3_000;

/** `npm run traces`: a collector on this machine that prints the trace of each order once the order is over. */
const collector = await openCollector(Number(process.argv[2] ?? portDefault));
process.stdout.write(`collecting spans; start the processes with LAPSE_TRACES_URL=${collector.url}\n`);

let seen = 0;
const endedAtMs = new Map<string, number>();
const timer = setInterval(() => {
  const spans = collector.spans();
  for (const span of spans.slice(Math.min(seen, spans.length))) {
    const orderId = span.attributes['lapse.order.id'];
    if (typeof orderId !== 'string') continue;
    if (span.name === 'redis release' || endedAtMs.has(orderId)) endedAtMs.set(orderId, performance.now());
  }
  seen = spans.length;
  for (const [orderId, atMs] of endedAtMs) {
    if (performance.now() - atMs < quietMs) continue;
    endedAtMs.delete(orderId);
    process.stdout.write(`\n${renderTrace(orderId, traceOf(spans, orderId))}`);
  }
}, 500);

process.once('SIGINT', () => {
  clearInterval(timer);
  void collector.close();
});
