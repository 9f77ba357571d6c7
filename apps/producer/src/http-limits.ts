import { randomUUID } from 'node:crypto';
import type { Server, ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { Problem } from '@lapse/operations';
import type { Logger } from '@lapse/runtime';
import { connectionsDropped } from './metrics.ts';
import { problemBody, problemContentType } from './problem-reply.ts';

/** Largest body: the largest valid one is far below 1 KiB. */
const bodyBytesMax = 16_384;
const headerBytesMax = 16_384;
const headersPerRequestMax = 100;
/** A client may take this long to send its headers. */
const headersTimeoutMsMax = 5_000;
/** Above the idle time of common load balancers (60 s), so that they close first and never meet a closed socket. */
const keepAliveMs = 65_000;
/** An address part; the longest valid one is a UUID. */
const paramLengthMax = 100;
/** A socket on which nothing moves for this long is closed. */
const connectionIdleMsMax = 120_000;

/** While connections are dropped the log says so this often; the metric counts them all. */
const dropLogEveryMs = 10_000;

/** Everything about a connection is bounded, so that a slow or silent client costs little and not for long. */
export function httpLimits(requestTimeoutMs: number) {
  const http: ServerOptions = {
    maxHeaderSize: headerBytesMax,
    headersTimeout: Math.min(headersTimeoutMsMax, requestTimeoutMs),
    // How often Node looks for connections beyond those times.
    connectionsCheckingInterval: 1_000,
  };
  return {
    bodyLimit: bodyBytesMax,
    requestTimeout: requestTimeoutMs,
    connectionTimeout: connectionIdleMsMax,
    keepAliveTimeout: keepAliveMs,
    routerOptions: { maxParamLength: paramLengthMax },
    http,
  };
}

/** Answer what is not HTTP, or breaks a limit of the parser, in the shape of every other error, and hang up. */
export function answerBadSocket(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = problemOfSocket(error.code);
  const body = JSON.stringify(problemBody(problem, randomUUID()));
  const head = [
    problem.code === 'REQUEST_TIMEOUT' ? 'HTTP/1.1 408 Request Timeout' : 'HTTP/1.1 400 Bad Request',
    `content-type: ${problemContentType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** A process that stood still calls whole requests late as well, so that answer must not call them invalid. */
function problemOfSocket(code: string | undefined): Problem {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { code: 'REQUEST_TIMEOUT' };
  const fault =
    code === 'HPE_HEADER_OVERFLOW'
      ? {
          field: 'headers',
          message: `must be at most ${headersPerRequestMax}, and ${headerBytesMax} bytes together`,
        }
      : { field: 'request', message: 'is not valid HTTP' };
  return { code: 'INVALID_REQUEST', errors: [fault] };
}

/** Set on the server once it exists: Node takes no option for it. */
export function limitHeaders(server: { maxHeadersCount: number | null }): void {
  server.maxHeadersCount = headersPerRequestMax;
}

/** Hang up on connections beyond `max` before a byte of them is read, so that no crowd uses up memory and files. */
export function limitConnections(server: Server, max: number, log: Logger): void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  server.maxConnections = max;
  server.on('drop', () => {
    connectionsDropped.inc();
    if (performance.now() - loggedAt < dropLogEveryMs) return;
    loggedAt = performance.now();
    log.warn({ max }, 'connections are dropped: LAPSE_HTTP_CONNECTIONS_MAX are open');
  });
}
