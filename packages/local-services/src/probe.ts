import { connect } from 'node:net';

const probeTimeoutMs = 1_000;
const answerBytesMax = 64 * 1024;

/**
 * Open a TCP connection on the loopback, send `request` (when given), and collect the answer until
 * `isComplete` says so. Bounded in time and size, so a frozen server reads as "no answer".
 * @returns undefined when nothing complete came back.
 */
export function exchange(
  port: number,
  request: Buffer | string | undefined,
  isComplete: (answer: Buffer) => boolean,
): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    let answer = Buffer.alloc(0);
    const socket = connect({ host: '127.0.0.1', port });
    const finish = (result: Buffer | undefined) => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(probeTimeoutMs, () => finish(undefined));
    socket.once('error', () => finish(undefined));
    socket.once('close', () => finish(undefined));
    socket.once('connect', () => request !== undefined && socket.write(request));
    socket.on('data', (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk]);
      if (isComplete(answer)) finish(answer);
      else if (answer.length > answerBytesMax) finish(undefined);
    });
  });
}
