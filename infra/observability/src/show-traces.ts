import { openCollector } from './open-collector.ts';
import { renderTrace, traceOf } from './render-trace.ts';
import { watchEndedOrders } from './watch-ended-orders.ts';

/** The usual port of OTLP over HTTP. */
const portDefault = 4_318;
/** An order's trace is shown when it is over, and no span of it came for so long. */
const quietMs = 3_000;

/** `npm run traces`: a collector on this machine that prints the trace of each order once the order is over. */
const collector = await openCollector({ port: Number(process.argv[2] ?? portDefault) });
process.stdout.write(`collecting spans; start the processes with LAPSE_TRACES_URL=${collector.url}\n`);

const takeEnded = watchEndedOrders(collector, quietMs);
const timer = setInterval(() => {
  for (const orderId of takeEnded()) {
    process.stdout.write(`\n${renderTrace(orderId, traceOf(collector.spans(), orderId))}`);
  }
}, 500);

process.once('SIGINT', () => {
  clearInterval(timer);
  void collector.close();
});
