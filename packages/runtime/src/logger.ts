import { type DestinationStream, type Level, type Logger, pino, stdTimeFunctions } from 'pino';
import { hideUrlPasswords } from './hide-secrets.ts';
import { serializeError } from './serialize-error.ts';

export type { Logger } from 'pino';

/** Field names whose values never reach the log, at the top of a line or up to two levels down. */
const secretFields = [
  'accessKey',
  'authorization',
  'Authorization',
  'cookie',
  'jwtSecret',
  'password',
  'secret',
  'secretKey',
  'token',
  'webhookSecret',
];

/**
 * The log of a process: JSON lines on standard output, written at once, so that none is lost when the
 * process exits. ISO time, level by name, the process's name, errors with their causes.
 * Values of secret fields and passwords in URLs are hidden, wherever in the line they are.
 */
export function createLogger(
  name: string,
  level: Level | 'silent',
  destination: DestinationStream = pino.destination({ dest: 1, sync: true }),
): Logger {
  return pino(
    {
      level,
      base: { name, pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: serializeError, error: serializeError },
      redact: {
        paths: secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
        censor: '[hidden]',
      },
      hooks: { streamWrite: hideUrlPasswords },
    },
    destination,
  );
}
