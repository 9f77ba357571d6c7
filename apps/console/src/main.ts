/** The page for buyers and operators. This file only wires. */
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { openOrderViews } from '@lapse/order-repository';
import { readConfig, repeat, serveOps, startProcess } from '@lapse/runtime';
import { openStock } from '@lapse/stock';
import { buildApp } from './app.ts';
import { openProducer } from './call-producer.ts';
import { createFanOut } from './fan-out.ts';
import { keepHistory } from './keep-history.ts';
import { readersDropped, showOpenViews } from './metrics.ts';
import { createGuestMint } from './mint-guest.ts';
import { createSessions } from './sessions.ts';
import { createStreamLimits } from './stream-limits.ts';
import { watchOperations } from './watch-operations.ts';
import { watchOrders } from './watch-orders.ts';
import { watchSales } from './watch-sales.ts';

/** Often enough for proxies, which give up a silent connection after a minute. */
const tellTimeEveryMs = 15_000;
const pageDir = fileURLToPath(new URL('../dist/public', import.meta.url));

await startProcess('console', ['ops', 'mysql', 'redis', 'console'], async ({ config, log, own }) => {
  const ops = own(await serveOps(config.ops, log), 'ops');
  const settings = config.console;
  const auth = settings.guests ? readConfig(process.env, ['auth']).auth : undefined;
  const views = own(await openOrderViews(config.mysql, log), 'mysql');
  const stock = own(await openStock(config.redis, log), 'redis');
  const fanOut = createFanOut({ onDropped: () => readersDropped.inc() });
  showOpenViews(fanOut.readers);
  const history = own(keepHistory({ views, log }), 'history');
  const watching = { views, fanOut, log };
  const sales = own(watchSales({ ...watching, everyMs: settings.salesEveryMs }), 'watch sales');
  own(watchOrders({ ...watching, everyMs: settings.salesEveryMs }), 'watch orders');
  const everyMs = settings.operationsEveryMs;
  const operations = own(watchOperations({ ...watching, stock, everyMs }), 'watch operations');
  const tellTime = async (): Promise<void> => fanOut.tellTime(views.now());
  own(repeat({ name: 'tell the time', everyMs: tellTimeEveryMs, task: tellTime, log }), 'clock');
  const app = await buildApp({
    views,
    fanOut,
    history,
    call: openProducer({ url: settings.producerUrl, timeoutMs: settings.producerTimeoutMs }),
    limits: createStreamLimits({
      streams: settings.streamsMax,
      perUser: settings.streamsPerUserMax,
      perAddress: settings.streamsPerAddressMax,
    }),
    sessions: createSessions(settings.cookieSecret),
    mintGuest: auth?.jwtSecret === undefined ? null : createGuestMint(auth, auth.jwtSecret),
    wake: (topic) => (topic === 'sales' ? sales : operations).wake(),
    publicUrl: settings.publicUrl,
    trustProxy: settings.trustProxy,
    pageDir,
    streamsMax: settings.streamsMax,
    log,
  });
  own({ close: async () => app.close() }, 'http');
  await app.listen({ host: settings.host, port: settings.port });
  const { port } = app.server.address() as AddressInfo;
  log.info({ host: settings.host, port }, 'page listens');
  ops.addCheck('mysql', views.ping);
  ops.setReady(true);
});
