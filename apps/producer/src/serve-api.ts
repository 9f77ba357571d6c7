import type { AddressInfo } from 'node:net';
import type { Closable, HttpConfig, Logger } from '@lapse/runtime';
import type { FastifyInstance } from 'fastify';
import { limitConnections, limitHeaders } from './http-limits.ts';

export interface ApiServer extends Closable {
  readonly port: number;
}

/**
 * Listen. `close` takes no new connection, lets the requests in flight finish, and then resolves: what they
 * use must be closed after it.
 */
export async function serveApi(
  app: FastifyInstance,
  config: Pick<HttpConfig, 'host' | 'port' | 'connectionsMax'>,
  log: Logger,
): Promise<ApiServer> {
  limitHeaders(app.server);
  limitConnections(app.server, config.connectionsMax, log);
  await app.listen({ host: config.host, port: config.port });
  const { port } = app.server.address() as AddressInfo;
  log.info({ host: config.host, port }, 'API listens');
  return { port, close: async () => app.close() };
}
