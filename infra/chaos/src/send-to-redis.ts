import { connect } from 'node:net';

const timeoutMs = 20_000;

/**
 * One command, as plain text, over a connection of our own. A Redis that is dead just now has nothing to lose: that
 * is no error.
 */
export function sendToRedis(port: number, command: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const end = (): void => {
      socket.destroy();
      resolve();
    };
    socket.setTimeout(timeoutMs, end).on('error', end).on('close', end);
    socket.on('connect', () => socket.write(`${command}\r\n`));
    socket.on('data', end);
  });
}
