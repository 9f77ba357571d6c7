/** A payment provider for tests, demo and bench. This file only wires. */
import type { AddressInfo } from 'node:net';
import { serveOps, startProcess } from '@lapse/runtime';
import { buildApp } from './app.ts';
import { openSimulator } from './open-simulator.ts';

await startProcess('payment-simulator', ['ops', 'simulator'], async ({ config, log, own }) => {
  const ops = own(await serveOps(config.ops, log), 'ops');
  const { host, port, publicUrl, apiKey } = config.simulator;
  const simulator = own(await openSimulator(config.simulator, log), 'simulator');
  let pageUrl = publicUrl?.replace(/\/$/, '') ?? '';
  const app = await buildApp({ ...simulator, apiKey, pageUrl: () => pageUrl, log });
  own({ close: async () => app.close() }, 'http');
  await app.listen({ host, port });
  const { port: bound } = app.server.address() as AddressInfo;
  pageUrl ||= `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;
  log.info({ host, port: bound }, 'payment simulator listens');
  ops.setReady(true);
});
