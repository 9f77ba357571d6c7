import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Closable } from './closable.ts';
import type { Logger } from './logger.ts';
import { collectProcessMetrics, registry } from './metrics.ts';
import { nodeHttp } from './node-http.ts';
import { type CheckOptions, createReadiness, type Readiness } from './readiness.ts';
import type { OpsConfig } from './settings.ts';

/** Probes and scrapers are few and small; everything beyond that is turned away early. */
const limits = {
  headerBytesMax: 8_192,
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 10_000,
  keepAliveMs: 5_000,
  connectionsMax: 64,
};

export interface Ops extends Closable {
  readonly port: number;
  /** Not ready until this says so; never ready again once the process begins to stop. */
  setReady(ready: boolean): void;
  /** `check` rejects while the thing it looks at cannot be used. */
  addCheck(name: string, check: () => Promise<void>, options?: CheckOptions): void;
}

/**
 * The operator's view of a process, on a port of its own: `/healthz` (the event loop lives), `/readyz`
 * (200, or 503 with what is wrong, as JSON), `/metrics` (Prometheus). Opened first and closed last, so
 * that the rest can be watched while it drains. No login: bind it to a private address.
 */
export async function serveOps(config: OpsConfig, log: Logger): Promise<Ops> {
  collectProcessMetrics();
  const readiness = createReadiness();
  let stopping = false;
  const server = nodeHttp.createServer({ maxHeaderSize: limits.headerBytesMax }, (request, response) => {
    answer(request, response, readiness).catch((error: unknown) => {
      log.error({ err: error, path: request.url }, 'ops request failed');
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  server.headersTimeout = limits.headersTimeoutMs;
  server.requestTimeout = limits.requestTimeoutMs;
  server.keepAliveTimeout = limits.keepAliveMs;
  server.maxConnections = limits.connectionsMax;
  server.listen(config.port, config.host);
  await once(server, 'listening');
  server.on('error', (error) => log.error({ err: error }, 'ops server failed'));
  const { port } = server.address() as AddressInfo;
  log.info({ host: config.host, port }, 'ops server listens');

  return {
    port,
    setReady: (ready) => readiness.setReady(ready && !stopping),
    addCheck: (name, check, options) => readiness.addCheck(name, check, options),
    stopping: () => {
      stopping = true;
      readiness.setReady(false);
    },
    close: () => closeServer(server),
  };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    // The callback's error only says that it was closed before.
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  readiness: Readiness,
): Promise<void> {
  request.resume();
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    return send(response, 405, 'text/plain', 'method not allowed\n');
  }
  const path = request.url?.split('?', 1)[0];
  if (path === '/healthz') return send(response, 200, 'text/plain', 'ok\n');
  if (path === '/readyz') {
    const report = await readiness.report();
    return send(response, report.ready ? 200 : 503, 'application/json', `${JSON.stringify(report)}\n`);
  }
  if (path === '/metrics') return send(response, 200, registry.contentType, await registry.metrics());
  return send(response, 404, 'text/plain', 'not found; there are /healthz, /readyz and /metrics\n');
}

function send(response: ServerResponse, status: number, contentType: string, body: string): void {
  response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store' });
  response.end(body);
}
