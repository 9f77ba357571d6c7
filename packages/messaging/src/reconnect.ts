import { type CallOptions, ChannelCredentials, type ClientOptions, type Metadata } from '@grpc/grpc-js';
import generated from 'rocketmq-client-nodejs/proto/apache/rocketmq/v2/service_grpc_pb.js';
import { MessagingError } from './messaging-error.ts';

/** Bounds of the wait between two attempts to connect. grpc-js alone lets it grow to two minutes. */
const reconnectBackOffMs = { initial: 200, max: 1_000 } as const;
/** A peer that is gone without a word is noticed after these two together. */
const keepaliveMs = { every: 10_000, timeout: 5_000 } as const;

const channelOptions: ClientOptions = {
  'grpc.initial_reconnect_backoff_ms': reconnectBackOffMs.initial,
  'grpc.max_reconnect_backoff_ms': reconnectBackOffMs.max,
  'grpc.keepalive_time_ms': keepaliveMs.every,
  'grpc.keepalive_timeout_ms': keepaliveMs.timeout,
};

const original = generated.MessagingServiceClient;
let stubsMade = 0;
/** Of the one RocketMQ that a process speaks with; undefined: the public CAs are believed. */
let ownCa: Buffer | undefined;

function ignore(): void {}

/** The library's stub with our channel options and CA, and a telemetry stream that cannot end the process. */
class ReconnectingStub extends original {
  constructor(address: string, credentials: ChannelCredentials, options: Partial<ClientOptions> = {}) {
    // The library has TLS with the public CAs, or none.
    const ownTls = ownCa !== undefined && credentials._isSecure();
    super(address, ownTls ? ChannelCredentials.createSsl(ownCa) : credentials, {
      ...options,
      ...channelOptions,
    });
    stubsMade += 1;
  }

  /**
   * The library takes every listener off this stream when it releases it, and the stream may still fail
   * after that: an 'error' nobody listens to ends the process. So one listener always stays.
   */
  override telemetry(metadata?: Metadata | Partial<CallOptions>, options?: Partial<CallOptions>) {
    const stream = super.telemetry(metadata as Metadata, options);
    const removeAllListeners = stream.removeAllListeners.bind(stream);
    // Arguments are passed on as they came: an explicit undefined would remove nothing at all.
    stream.removeAllListeners = (...events) => {
      removeAllListeners(...events);
      return stream.listeners('error').includes(ignore) ? stream : stream.on('error', ignore);
    };
    return stream;
  }
}

/**
 * Make every client opened from now on reconnect within about a second of the proxy's return.
 *
 * The library takes no channel options, so its generated stub is replaced in the module that it reads it
 * from. Opening a new client instead was tried: grpc-js shares the old back-off between clients of one
 * address, and the old client keeps its timers and sockets. Call it before a client is made; may be called
 * any number of times.
 * @param ca certificates as PEM that the proxy's own is checked with, for all clients made from now on.
 * @throws LAPSE_ROCKETMQ_CLIENT when the library no longer has this shape.
 */
export function installReconnect(ca?: string): void {
  ownCa = ca === undefined ? undefined : Buffer.from(ca);
  if (generated.MessagingServiceClient === ReconnectingStub) return;
  if (typeof original !== 'function' || typeof original.prototype.telemetry !== 'function') {
    throw shapeChanged('it exports no MessagingServiceClient with telemetry()');
  }
  generated.MessagingServiceClient = ReconnectingStub;
  if (generated.MessagingServiceClient !== ReconnectingStub) throw shapeChanged('its exports are frozen');
}

/** Called once a client has connected: proves that the library really used our stub. */
export function assertReconnectUsed(): void {
  if (stubsMade === 0) throw shapeChanged('it connected without the exported MessagingServiceClient');
}

function shapeChanged(how: string): MessagingError {
  return new MessagingError(
    'LAPSE_ROCKETMQ_CLIENT',
    `rocketmq-client-nodejs changed its shape: ${how}. Adapt reconnect.ts, or go back to the version in the catalog.`,
  );
}
