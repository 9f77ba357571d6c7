import { Duplex } from 'node:stream';
import type { BaseClient } from 'rocketmq-client-nodejs';
import pb from 'rocketmq-client-nodejs/proto/apache/rocketmq/v2/service_pb.js';

/** Long enough for one round trip to a busy proxy; the proxy forgets a client by itself after that. */
const shutdownMsMaxDefault = 3_000;

/**
 * Shut a client down: never throws, and settles within `shutdownMsMax`. Left alone, `shutdown()` rejects
 * half way when the proxy is away, and a telemetry stream that waits to be renewed then opens connections
 * for ever. Both are cut off here, so that a client which is closed leaves nothing running.
 */
export async function closeClient(client: BaseClient, shutdownMsMax = shutdownMsMaxDefault): Promise<void> {
  const rpc = client.getRpcClientManager();
  const notify = rpc.notifyClientTermination.bind(rpc);
  rpc.notifyClientTermination = (...args) =>
    notify(...args).catch(() => new pb.NotifyClientTerminationResponse());
  client.createTelemetryStream = inertStream;

  let timer: NodeJS.Timeout | undefined;
  const box = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, shutdownMsMax);
  });
  // A shutdown that fails has nothing left that a caller could do about it.
  await Promise.race([client.shutdown().catch(() => {}), box]);
  clearTimeout(timer);
  rpc.close();
}

/** What a renewal after the close gets: takes every write, never says anything, never fails. */
function inertStream(): ReturnType<BaseClient['createTelemetryStream']> {
  const stream = new Duplex({ objectMode: true, read() {}, write: (_chunk, _encoding, done) => done() });
  return stream as unknown as ReturnType<BaseClient['createTelemetryStream']>;
}
