import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Closable } from '@lapse/runtime';

/**
 * What a link does with its connections. `refuse`: open ones break, new ones are reset. `blackhole`: half open,
 * bytes vanish and nobody is told. `answers-lost`: requests arrive, answers vanish, which is how a commit becomes
 * ambiguous. `stalls`: bytes wait, and all arrive at the end, long after whoever sent them has given up. `slow`: every
 * piece comes late. `resets`: each connection breaks in mid-stream after a moment.
 */
export const linkFaults = ['refuse', 'blackhole', 'answers-lost', 'stalls', 'slow', 'resets'] as const;
export type LinkFault = (typeof linkFaults)[number];

/** The network between one process and one service: a TCP proxy that can be told to fail. */
export interface NetworkLink extends Closable {
  readonly port: number;
  setFault(fault: LinkFault | undefined): void;
}

export interface LinkOptions {
  readonly upstreamPort: number;
  /**
   * The client speaks HTTP CONNECT first. The broker's proxy tells its clients its own address, so a port of
   * ours would be left at once; but gRPC goes wherever `grpc_proxy` says.
   */
  readonly httpConnect: boolean;
}

const slowMs = 300;
const resetAfterMs = 400;
const connectHeadMax = 8_192;

export async function openLink({ upstreamPort, httpConnect }: LinkOptions): Promise<NetworkLink> {
  const pairs = new Set<Pair>();
  let fault: LinkFault | undefined;
  const server = createServer((client) => {
    if (fault === 'refuse') return void client.resetAndDestroy();
    const pair = joinPair(client, upstreamPort, httpConnect, () => fault);
    pair.stall(fault === 'stalls');
    pairs.add(pair);
    client.once('close', () => pairs.delete(pair));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    setFault: (wanted) => {
      const healed = fault === 'blackhole' || fault === 'answers-lost';
      fault = wanted;
      // Bytes have vanished from these streams: no network would go on in the middle of them.
      if (wanted === 'refuse' || healed) for (const pair of pairs) pair.reset();
      for (const pair of pairs) pair.stall(wanted === 'stalls');
    },
    close: async () => {
      for (const pair of pairs) pair.reset();
      server.close();
      await once(server, 'close');
    },
  };
}

interface Pair {
  reset(): void;
  stall(stalled: boolean): void;
}

function joinPair(
  client: Socket,
  upstreamPort: number,
  httpConnect: boolean,
  currentFault: () => LinkFault | undefined,
): Pair {
  const server = connect({ port: upstreamPort, host: '127.0.0.1' });
  const reset = (): void => {
    client.resetAndDestroy();
    server.resetAndDestroy();
  };
  for (const socket of [client, server]) socket.setNoDelay(true).on('error', reset).on('close', reset);
  const forward = (from: Socket, to: Socket, isAnswer: boolean) => (chunk: Buffer) => {
    const fault = currentFault();
    if (fault === 'blackhole' || (fault === 'answers-lost' && isAnswer)) return;
    if (fault === 'resets') setTimeout(reset, Math.random() * resetAfterMs);
    const write = (): void => {
      if (to.writable && !to.write(chunk)) {
        from.pause();
        to.once('drain', () => from.resume());
      }
    };
    // One delay for all pieces keeps their order.
    if (fault === 'slow') setTimeout(write, slowMs);
    else write();
  };
  server.on('data', forward(server, client, true));
  const toServer = forward(client, server, false);
  if (httpConnect) acceptConnect(client, toServer);
  else client.on('data', toServer);
  const stall = (stalled: boolean): void => {
    for (const socket of [client, server]) {
      if (stalled) socket.pause();
      else if (socket.isPaused()) socket.resume();
    }
  };
  return { reset, stall };
}

/** Answer CONNECT ourselves, whatever address it names: this link leads to one service only. */
function acceptConnect(client: Socket, onward: (chunk: Buffer) => void): void {
  let head = Buffer.alloc(0);
  const read = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end === -1) {
      if (head.length > connectHeadMax) client.resetAndDestroy();
      return;
    }
    client.off('data', read);
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    client.on('data', onward);
    const rest = head.subarray(end + 4);
    if (rest.length > 0) onward(rest);
  };
  client.on('data', read);
}
