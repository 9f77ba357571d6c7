import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Balancer {
  readonly port: number;
  /** Where new connections go, in turn. Those that are there stay where they are. */
  backends: readonly number[];
  close(): Promise<void>;
}

/** A load balancer of connections, as a Kubernetes Service is one: it knows nothing of requests. */
export async function openBalancer(): Promise<Balancer> {
  const sockets = new Set<Socket>();
  let turn = 0;
  const balancer = { backends: [] as readonly number[] };
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
  };
  const server = createServer((client) => {
    keep(client);
    const port = balancer.backends[turn % balancer.backends.length];
    turn += 1;
    if (port === undefined) return void client.destroy();
    const backend = keep(connect(port, '127.0.0.1'));
    backend.on('close', () => client.destroy());
    client.on('close', () => backend.destroy());
    client.pipe(backend).pipe(client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(balancer, {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  });
}
