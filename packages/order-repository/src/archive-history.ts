import { deflateSync, inflateSync } from 'node:zlib';
import { UnreadableHistoryError } from './errors.ts';
import type { TimelineRows } from './timeline-rows.ts';

interface Tagged {
  readonly $bytes?: string;
  readonly $time?: string;
}

const lengthBytes = 4;
/** Raised with every change of what the rows hold, one more column too: an archive outlives any release (decision 19). */
const historyVersion = 1;
const newerAdvice = 'Read it with the release that wrote it, or a newer one; UNCOMPRESS(history) shows it.';
const damagedAdvice = "It is damaged: take the order's row of order_archive from a backup.";
const lists = ['transitions', 'messages', 'notifications', 'shopEvents', 'attempts', 'payments'] as const;

/**
 * An order's rows as JSON that comes back as it was, bytes as hex and times in UTC to the millisecond; compressed as
 * MySQL does it, so that `UNCOMPRESS(history)` shows it to a person. A quarter of the bytes.
 */
export function encodeHistory(rows: TimelineRows): Buffer {
  const json = Buffer.from(toJson(rows));
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32LE(json.length);
  return Buffer.concat([length, deflateSync(json)]);
}

function toJson(rows: TimelineRows): string {
  return JSON.stringify(
    { version: historyVersion, ...rows },
    function tag(this: Record<string, unknown>, key, value: unknown) {
      // What JSON would make of it comes as `value`: what it was is still in its place.
      const raw = this[key];
      if (Buffer.isBuffer(raw)) return { $bytes: raw.toString('hex') };
      if (raw instanceof Date) return { $time: raw.toISOString() };
      return value;
    },
  );
}

/**
 * The rows that `encodeHistory` was given. Those that were archived before there was a version are as version 1.
 * @throws {UnreadableHistoryError} for a version of a later release, or what is no history.
 */
export function decodeHistory(history: Buffer): TimelineRows {
  const { version = 1, ...rows } = (fromJson(inflate(history)) ?? {}) as Partial<TimelineRows> & {
    version?: unknown;
  };
  if (version !== historyVersion) {
    throw new UnreadableHistoryError(`it is of version ${String(version)}`, newerAdvice);
  }
  if (!Buffer.isBuffer(rows.order?.id)) throw new UnreadableHistoryError('it has no order', damagedAdvice);
  for (const name of lists) {
    if (!Array.isArray(rows[name])) throw new UnreadableHistoryError(`it has no ${name}`, damagedAdvice);
  }
  return rows as TimelineRows;
}

function inflate(history: Buffer): string {
  try {
    return inflateSync(history.subarray(lengthBytes)).toString();
  } catch (error) {
    throw new UnreadableHistoryError('it cannot be decompressed', damagedAdvice, { cause: error });
  }
}

function fromJson(json: string): object | null {
  try {
    return JSON.parse(json, untag) as object | null;
  } catch (error) {
    throw new UnreadableHistoryError('it is no JSON', damagedAdvice, { cause: error });
  }
}

function untag(_key: string, value: unknown): unknown {
  const { $bytes, $time } = (value ?? {}) as Tagged;
  if (typeof $bytes === 'string') return Buffer.from($bytes, 'hex');
  if (typeof $time === 'string') return new Date($time);
  return value;
}
