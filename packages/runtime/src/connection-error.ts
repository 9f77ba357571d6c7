/** Codes of Node's sockets, of streams used after their end, and of gRPC (cancelled, deadline, unavailable). */
const connectionCodes: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
  'ERR_STREAM_PREMATURE_CLOSE',
  'PROTOCOL_CONNECTION_LOST',
  1,
  4,
  14,
]);

const causesMax = 5;

/**
 * Whether an error, or one of its causes, only says that a connection ended. Clients raise such errors
 * from the background right after they were shut down.
 */
export function isConnectionError(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < causesMax && current instanceof Error; depth += 1) {
    if ('code' in current && connectionCodes.has(current.code)) return true;
    current = current.cause;
  }
  return false;
}
