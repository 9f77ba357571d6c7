import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import type { Reader } from './fan-out.ts';

/** A reader with so much unread in our memory is dropped: it comes back, and gets the state of then. */
const unreadBytesMax = 262_144;
/** Browsers come back after one to three seconds, not all at once. */
const retryMsMin = 1_000;
const retryMsSpread = 2_000;

/** What to do when a connection closes: one listener for all views that wait behind one another on it. */
const closings = new WeakMap<Socket, (() => void)[]>();

/**
 * Turn an answer into a live view (Server-Sent Events), on a connection that is still there. `onClose` runs once, however
 * it ends. Written here, because what matters is to see what a slow reader has not taken yet, and the libraries' streams
 * hide just that.
 */
export function openStream(reply: FastifyReply, onClose: () => void): Reader {
  reply.hijack();
  const { raw, request } = reply;
  const { socket } = request.raw;
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // Proxies of the nginx kind would hold events back.
    'x-accel-buffering': 'no',
  });
  // Of the connection: an answer that waits behind another one of it is never closed itself.
  onceClosed(socket, onClose);
  // A connection that breaks closes as well; nobody needs to hear of it twice.
  raw.on('error', () => undefined);
  raw.write(`retry: ${retryMsMin + Math.floor(Math.random() * retryMsSpread)}\n\n`);
  return {
    send: (frame) => {
      if (raw.destroyed || raw.writableEnded) return true;
      if (raw.writableLength > unreadBytesMax) return false;
      raw.write(frame);
      return true;
    },
    // Not `end`: it would wait for a reader that does not read.
    end: () => socket.destroy(),
  };
}

function onceClosed(socket: Socket, onClose: () => void): void {
  const others = closings.get(socket);
  if (others) {
    others.push(onClose);
    return;
  }
  const all = [onClose];
  closings.set(socket, all);
  socket.once('close', () => {
    for (const close of all) close();
  });
}
