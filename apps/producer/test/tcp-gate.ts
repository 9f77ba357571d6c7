import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpGate {
  /** The store's address, but through the gate. */
  readonly url: string;
  /** Drop every connection and refuse new ones, as if the store were stopped. */
  shut(): Promise<void>;
  /** Shut at the next COMMIT: the store has done it, and its answer never arrives. Resolves when it happened. */
  shutAfterCommit(): Promise<void>;
  /** Connections work again. */
  open(): Promise<void>;
  close(): Promise<void>;
}

/** A gate before a real store: what is behind it can be away without harm to other tests that use it. */
export async function openTcpGate(storeUrl: string): Promise<TcpGate> {
  const target = new URL(storeUrl);
  const sockets = new Set<Socket>();
  let onCommitted: (() => void) | undefined;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  };
  const server = createServer((client) => {
    const store = connect(Number(target.port), target.hostname);
    keep(client);
    keep(store);
    let withhold = false;
    client.on('data', (bytes) => {
      if (onCommitted && bytes.subarray(-6).toString('latin1') === 'COMMIT') withhold = true;
      store.write(bytes);
    });
    store.on('data', (bytes) => {
      if (withhold) void shut().then(onCommitted);
      else client.write(bytes);
    });
    client.on('close', () => store.destroy());
    store.on('close', () => client.destroy());
  });
  const listen = async (port: number): Promise<number> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const port = await listen(0);
  const shut = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  const url = new URL(storeUrl);
  url.port = String(port);
  return {
    url: url.href,
    shut,
    shutAfterCommit: () =>
      new Promise((resolve) => {
        onCommitted = resolve;
      }),
    open: async () => {
      onCommitted = undefined;
      await listen(port);
    },
    close: async () => {
      if (server.listening) await shut();
    },
  };
}
