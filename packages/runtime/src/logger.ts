import { type DestinationStream, type Level, type Logger, pino, stdTimeFunctions } from 'pino';
import { hideUrlPasswords } from './hide-secrets.ts';
import { limitLines } from './limit-lines.ts';
import { serializeError } from './serialize-error.ts';
import { isOrderTraced, isTracing, traceIdOf } from './trace-orders.ts';

export type { Logger } from 'pino';

/** Longest log line, in characters: well under what log collectors cut at, and far beyond an honest line. */
const lineMax = 32_768;

/** What is left of the message of a line that is too long, in characters. */
const cutMessageMax = 2_000;

/** Field names whose values never reach the log, at the top of a line or up to two levels down. */
const secretFields = [
  'accessKey',
  'apiKey',
  'authorization',
  'Authorization',
  'clientSecret',
  'cookie',
  'jwtSecret',
  'password',
  'secret',
  'secretKey',
  'stripeSecretKey',
  'stripeWebhookSecret',
  'token',
  'webhookSecret',
];

/**
 * The log of a process: JSON lines on standard output, written at once, so that none is lost when the
 * process exits. ISO time, level by name, the process's name, errors with their causes.
 * Lines are bounded: a longer one keeps its head and its message, cut.
 * A storm of lines of one kind is cut short and counted: see `limitLines`. Notices to buyers whose channel is the log are
 * what was asked for, and all written.
 * Values of secret fields and passwords in URLs are hidden, wherever in the line they are.
 */
export function createLogger(
  name: string,
  level: Level | 'silent',
  destination: DestinationStream = pino.destination({ dest: 1, sync: true }),
): Logger {
  const limit = limitLines((kind, leftOut) => {
    log.warn({ kind, leftOut }, 'log lines left out');
  });
  const log = pino(
    {
      level,
      base: { name, pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: nameTrace },
      serializers: { err: serializeError, error: serializeError },
      redact: {
        paths: secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
        censor: '[hidden]',
      },
      hooks: {
        streamWrite: finishLine,
        logMethod(args, write, level) {
          const [first, second] = args as unknown[];
          const message = typeof first === 'string' ? first : second;
          const label = pino.levels.labels[level] as Level;
          const kind = typeof message === 'string' ? message : '';
          if (isDelivery(first) || limit.admit(kind, label)) write.apply(this, args);
        },
      },
    },
    destination,
  );
  return log;
}

function isDelivery(fields: unknown): boolean {
  return typeof fields === 'object' && fields !== null && 'notice' in fields;
}

/** A line about one order names its trace, where it is traced. */
function nameTrace(fields: Record<string, unknown>): Record<string, unknown> {
  const { orderId } = fields;
  return isTracing() && typeof orderId === 'string' && isOrderTraced(orderId)
    ? { ...fields, traceId: traceIdOf(orderId) }
    : fields;
}

function finishLine(line: string): string {
  return hideUrlPasswords(line.length > lineMax ? cutLine(line) : line);
}

function cutLine(line: string): string {
  const { level, time, name, pid, msg } = JSON.parse(line);
  const message = typeof msg === 'string' ? msg.slice(0, cutMessageMax) : undefined;
  return `${JSON.stringify({ level, time, name, pid, msg: message, cutFrom: line.length })}\n`;
}
