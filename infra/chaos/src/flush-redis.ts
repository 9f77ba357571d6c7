import { connect } from 'node:net';

const timeoutMs = 20_000;

/** FLUSHALL over a connection of our own. A Redis that is dead just now has nothing to flush: that is no error. */
export function flushRedis(port: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const end = (): void => {
      socket.destroy();
      resolve();
    };
    socket.setTimeout(timeoutMs, end).on('error', end).on('close', end);
    socket.on('connect', () => socket.write('FLUSHALL\r\n'));
    socket.on('data', end);
  });
}
