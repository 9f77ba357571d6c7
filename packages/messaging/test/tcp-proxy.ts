import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  /** `host:port` to connect to instead of the target. */
  readonly address: string;
  /** End every connection and refuse new ones, as a process that died does. */
  cut(): Promise<void>;
  /** End every connection and every new one at once, until `admit`. Unlike `cut` it sees who knocks. */
  turnAway(): void;
  admit(): void;
  /** Connections turned away so far. */
  turnedAway(): number;
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** A door before a real server that a test may shut: a real outage for whoever comes through it. */
export async function openTcpProxy(target: string): Promise<TcpProxy> {
  const [host = '', port = ''] = target.split(':');
  const sockets = new Set<Socket>();
  let isTurningAway = false;
  let turnedAway = 0;
  const server = createServer((client) => {
    if (isTurningAway) {
      turnedAway += 1;
      client.destroy();
      return;
    }
    const upstream = connect({ host, port: Number(port) });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });

  async function listen(on: number): Promise<void> {
    server.listen(on, '127.0.0.1');
    await once(server, 'listening');
  }
  await listen(0);
  const listening = (server.address() as AddressInfo).port;

  async function cut(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  return {
    address: `127.0.0.1:${listening}`,
    cut,
    restore: () => listen(listening),
    turnAway() {
      isTurningAway = true;
      for (const socket of sockets) socket.destroy();
    },
    admit() {
      isTurningAway = false;
    },
    turnedAway: () => turnedAway,
    close: cut,
  };
}
