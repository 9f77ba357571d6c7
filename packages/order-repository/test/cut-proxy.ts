import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** What happens to a COMMIT that passes. */
export type CutMode = 'pass' | 'cut-after-commit' | 'cut-before-commit' | 'deliver-late';

/** How long `deliver-late` keeps a COMMIT whose client is gone already. */
const lateMs = 300;

export interface CutProxy {
  /** The database's address through the proxy. */
  readonly url: string;
  mode: CutMode;
  /** Whether new connections are taken. */
  open: boolean;
  /** COMMITs met while the mode was not `pass`. */
  readonly cuts: () => number;
  close(): Promise<void>;
}

/**
 * A TCP proxy in front of MySQL that breaks the connection at COMMIT, the one moment whose outcome a client
 * cannot know: after the server has done it, the answer withheld; before it ever hears of it; or with the
 * COMMIT still on its way when the client already asks again.
 */
export async function openCutProxy(target: string): Promise<CutProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let cuts = 0;
  const server = createServer((client) => {
    if (!proxy.open) return client.destroy();
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    let late = false;
    client.on('close', () => late || upstream.destroy());
    upstream.on('close', () => client.destroy());
    let withholding = false;
    upstream.on('data', (data) => {
      // The server's answer is proof that it has committed.
      if (withholding) client.destroy();
      else client.write(data);
    });
    client.on('data', (data) => {
      // A packet of one COM_QUERY: length, sequence 0, command 3, then the text.
      if (proxy.mode === 'pass' || data.subarray(-6).toString('latin1') !== 'COMMIT')
        return upstream.write(data);
      cuts += 1;
      if (proxy.mode === 'cut-before-commit') return client.destroy();
      withholding = true;
      if (proxy.mode === 'deliver-late') {
        late = true;
        client.destroy();
        setTimeout(() => upstream.end(data), lateMs);
        return;
      }
      upstream.write(data);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  const url = new URL(target);
  url.host = `127.0.0.1:${address.port}`;
  const proxy: CutProxy = {
    url: url.href,
    mode: 'pass',
    open: true,
    cuts: () => cuts,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}
