import { isIP } from 'node:net';
import { parseDurationMs } from '@lapse/contracts';
import { z } from 'zod';
import { readRedisAddress } from '../redis-address.ts';

/** How each kind of value is read from text. Every message completes the sentence "LAPSE_X …". */

const unitsMs = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

function durationText(ms: number): string {
  for (const [unit, unitMs] of unitsMs) if (ms >= unitMs && ms % unitMs === 0) return `${ms / unitMs}${unit}`;
  return `${ms}ms`;
}

/** A value that `parse` understands, or one fault with this message. */
export function value<T>(message: string, parse: (text: string) => T | undefined) {
  return z.string().transform((text, context) => {
    const result = parse(text.trim());
    if (result !== undefined) return result;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

export function wholeNumber(min: number, max: number) {
  return value(`must be a whole number from ${min} to ${max}`, (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  });
}

/** Milliseconds: `600000`, `10m`, `90s`, or a delay level of RocketMQ 4.x such as `level:14`. */
export function duration(minMs: number, maxMs: number) {
  return value(
    `must be a duration from ${durationText(minMs)} to ${durationText(maxMs)}, such as 1500ms, 90s, 10m or level:14`,
    (text) => {
      const ms = parseDurationMs(text);
      return ms !== undefined && ms >= minMs && ms <= maxMs ? ms : undefined;
    },
  );
}

/** A duration as above, or null for `forever`. */
export function durationOrForever(minMs: number, maxMs: number) {
  return value(
    `must be "forever", or a duration from ${durationText(minMs)} to ${durationText(maxMs)}, such as 90d`,
    (text) => {
      if (text === 'forever') return null;
      const ms = parseDurationMs(text);
      return ms !== undefined && ms >= minMs && ms <= maxMs ? ms : undefined;
    },
  );
}

export function oneOf<const T extends string>(...choices: readonly T[]) {
  return value(`must be one of: ${choices.join(', ')}`, (text) => choices.find((choice) => choice === text));
}

export function trueOrFalse() {
  return value('must be true or false', (text) =>
    text === 'true' ? true : text === 'false' ? false : undefined,
  );
}

export function matching(pattern: RegExp, message: string) {
  return value(message, (text) => (pattern.test(text) ? text : undefined));
}

export function host() {
  return matching(/^[A-Za-z0-9.:_-]{1,253}$/, 'must be a host name or an IP address');
}

/** A port to listen on; 0 takes any free one. */
export function port() {
  return wholeNumber(0, 65_535);
}

/** A URL with one of these schemes (`mysql:`) that also passes `check`. */
export function url(
  schemes: readonly string[],
  message: string,
  check: (parsed: URL, text: string) => boolean = () => true,
) {
  return value(message, (text) => {
    if (!URL.canParse(text)) return undefined;
    const parsed = new URL(text);
    return schemes.includes(parsed.protocol) && parsed.hostname !== '' && check(parsed, text)
      ? text
      : undefined;
  });
}

/** One Redis server, some nodes of a cluster, or sentinels with the name of their master. */
export function redisUrl() {
  return value(
    'must be redis://[user:password@]host:port[/number], redis-cluster://[user:password@]host:port,host:port or redis-sentinel://[user:password@]host:port,host:port/master (rediss for TLS)',
    (text) => {
      try {
        readRedisAddress({ url: text });
        return text;
      } catch {
        return undefined;
      }
    },
  );
}

/** A signing secret of Standard Webhooks: `whsec_` and the base64 of at least 24 bytes. */
export function webhookSecret() {
  return matching(
    /^whsec_(?=[A-Za-z0-9+/]{32,})(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
    'must be whsec_ followed by the base64 of at least 24 random bytes',
  );
}

/** A JSON object; `parse` says what it may hold, and throws otherwise. */
export function json<T>(message: string, parse: (parsed: unknown) => T) {
  return value(message, (text) => {
    try {
      return parse(JSON.parse(text));
    } catch {
      return undefined;
    }
  });
}

const proxyNames = ['loopback', 'linklocal', 'uniquelocal'];

/** Addresses, networks (`10.0.0.0/8`) or the names above, with commas between. Never "all": anybody could forge. */
export function proxies() {
  return value('must be addresses or networks with commas between, such as 10.0.0.0/8,loopback', (text) => {
    const list = text.split(',').map((part) => part.trim());
    return list.length <= 32 && list.every(isProxy) ? list : undefined;
  });
}

function isProxy(text: string): boolean {
  if (proxyNames.includes(text)) return true;
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  // A network of all addresses would trust everybody.
  return /^[1-9][0-9]{0,2}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128);
}
