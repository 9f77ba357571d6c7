import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { ConfigError } from '@lapse/runtime';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { type AddressGuard, openAddressGuard } from './address-guard.ts';
import { DeliveryError } from './delivery-error.ts';
import { parseRetryAfterMs } from './retry-after.ts';

/** Most connections to one receiver, and the longest time that an idle one is kept. */
const connectionsMax = 32;
const idleMs = 4_000;
/** Bytes of an answer's headers, and of a body that is read; no more than that is ever taken. */
const headerBytesMax = 16_384;
const answerBytesMax = 16_384;

export interface GuardedHttpOptions {
  readonly timeoutMs: number;
  /** Private addresses that may be reached all the same: see `openAddressGuard`. */
  readonly allowPrivate: readonly string[];
  /** How names become addresses; of the system unless a test says otherwise. */
  readonly lookup?: typeof systemLookup;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface HttpAnswer {
  readonly status: number;
  readonly retryAfterMs?: number;
  /** The start of the body, at most 16 KiB; absent when it broke off before its end. */
  readonly text?: string;
}

export interface GuardedHttp {
  /**
   * One request, in one time box that covers connection, answer and body. Redirects are not followed: what is
   * sent goes to that address or nowhere. Resolves with whatever status came.
   * @throws DeliveryError when no answer came, or the address is one that must not be reached.
   */
  send(request: HttpRequest): Promise<HttpAnswer>;
  close(): Promise<void>;
}

/** A name led to addresses that the guard refuses, all of them. */
class AddressRefusedError extends Error {
  constructor(host: string, addresses: readonly string[]) {
    super(
      `${host} is at ${addresses.join(', ')}, which is not a public address; if that is meant, name it in LAPSE_WEBHOOK_ALLOW_PRIVATE`,
    );
    this.name = 'AddressRefusedError';
  }
}

/**
 * HTTP to addresses that the configuration names, and to no private ones. The guard looks at the very address
 * that each new connection goes to, so a name that answers differently the second time gains nothing.
 */
export function openGuardedHttp(options: GuardedHttpOptions): GuardedHttp {
  const guard = openAddressGuard(options.allowPrivate);
  const agent = new Agent({
    connect: guardedConnector(guard, options),
    connections: connectionsMax,
    pipelining: 1,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
    maxHeaderSize: headerBytesMax,
    headersTimeout: options.timeoutMs,
    bodyTimeout: options.timeoutMs,
  });
  return {
    send: (request) => send(agent, request, options.timeoutMs),
    close: () => agent.destroy(),
  };
}

/** @throws ConfigError when the URL itself names an address that no delivery could reach. */
export function checkLiteralAddress(name: string, url: string, allowPrivate: readonly string[]): void {
  const host = literalOf(new URL(url).hostname);
  if (isIP(host) === 0 || openAddressGuard(allowPrivate)(host, host)) return;
  throw new ConfigError([
    {
      name,
      fault: `names ${host}, which is not a public address: name it in LAPSE_WEBHOOK_ALLOW_PRIVATE too, if that is meant`,
    },
  ]);
}

function guardedConnector(guard: AddressGuard, options: GuardedHttpOptions): buildConnector.connector {
  const lookup = guardedLookup(guard, options.lookup ?? systemLookup);
  const connect = buildConnector({ timeout: options.timeoutMs, lookup });
  return (target, callback) => {
    // Node asks no lookup about an address, only about a name.
    const host = literalOf(target.hostname);
    if (isIP(host) !== 0 && !guard(host, host)) return callback(new AddressRefusedError(host, [host]), null);
    connect(target, callback);
  };
}

function literalOf(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function guardedLookup(guard: AddressGuard, lookup: typeof systemLookup): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, found: LookupAddress[]) => {
      if (error) return callback(error, []);
      const allowed = found.filter(({ address }) => guard(host, address));
      const [first] = allowed;
      if (first === undefined) {
        const refused = new AddressRefusedError(
          host,
          found.map(({ address }) => address),
        );
        return callback(refused, []);
      }
      if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

async function send(agent: Agent, request: HttpRequest, timeoutMs: number): Promise<HttpAnswer> {
  const { origin, host, pathname, search } = new URL(request.url);
  const signal = AbortSignal.timeout(timeoutMs);
  let answer: Dispatcher.ResponseData;
  try {
    answer = await agent.request({
      origin,
      path: `${pathname}${search}`,
      method: request.method,
      headers: request.headers,
      body: request.body ?? null,
      signal,
    });
  } catch (cause) {
    throw new DeliveryError(faultOf(host, cause, signal.aborted, timeoutMs), { cause });
  }
  const retryAfter = answer.headers['retry-after'];
  const retryAfterMs = parseRetryAfterMs(typeof retryAfter === 'string' ? retryAfter : null);
  // What was sent is taken or not by the status alone: a body that breaks off must not send it a second time.
  const text = await readStart(answer.body).catch(() => undefined);
  return {
    status: answer.statusCode,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(text !== undefined && { text }),
  };
}

function faultOf(host: string, cause: unknown, timedOut: boolean, timeoutMs: number): string {
  if (cause instanceof AddressRefusedError) return cause.message;
  return timedOut ? `${host} did not answer within ${timeoutMs} ms` : `${host} cannot be reached`;
}

async function readStart(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    // Leaving the loop destroys the body, and its connection with it.
    if (bytes >= answerBytesMax) break;
  }
  return Buffer.concat(chunks).subarray(0, answerBytesMax).toString('utf8');
}
