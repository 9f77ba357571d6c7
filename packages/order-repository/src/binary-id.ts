import { v7 } from 'uuid';
import { type SqlLiteral, sqlLiteral } from './sql-literal.ts';

/** A new id for an outbox row, an effect, an order in tests: UUID version 7, so that rows go in at the end. */
export function newId(): string {
  return v7();
}

const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const shape = new RegExp(`^${uuid}$`);
const listShape = new RegExp(`^${uuid}(?:,${uuid})*$`);
const uuidLength = 36;
const dash = 0x2d;
/** Bytes of an id. */
export const idBytes = 16;

/**
 * The 16 bytes that MySQL keeps for an id. The only way in: a BINARY(16) compared with text matches
 * nothing, silently.
 * @throws TypeError when the text is not a lower-case UUID: two spellings would be two orders.
 */
export function idToBytes(id: string): Buffer {
  return Buffer.from(idToHex(id), 'hex');
}

/** The digits of an id, without its dashes. @throws TypeError as `idToBytes` does. */
export function idToHex(id: string): string {
  if (!shape.test(id)) throw notAnId(id);
  return id.replaceAll('-', '');
}

function notAnId(id: string): TypeError {
  return new TypeError(`not a lower-case UUID: ${JSON.stringify(id).slice(0, 60)}`);
}

/** Ids in one text, checked in one go: one by one, that was a tenth of what a closer does for an order. */
function joined(ids: readonly string[]): string {
  const text = ids.join(',');
  const isSound =
    text.length === ids.length * (uuidLength + 1) - 1 && listShape.test(text) && ids.every(isText);
  if (!isSound && ids.length > 0) throw notAnId(ids.find((id) => !isText(id) || !shape.test(id)) ?? text);
  return text.replaceAll('-', '');
}

/** A list of one id looks like that id, once it is joined. */
function isText(id: unknown): boolean {
  return typeof id === 'string';
}

export function idFromBytes(bytes: Buffer): string {
  return idAt(bytes.toString('hex'), 0);
}

function idAt(hex: string, at: number): string {
  return `${hex.slice(at, at + 8)}-${hex.slice(at + 8, at + 12)}-${hex.slice(at + 12, at + 16)}-${hex.slice(at + 16, at + 20)}-${hex.slice(at + 20, at + 32)}`;
}

/**
 * Sorted and without repeats: one lock order for everybody (unsorted ids cost 28% and deadlocks). Text sorts as its
 * bytes do.
 * @throws TypeError as `idToBytes` does.
 */
export function sortedIds(ids: readonly string[]): string[] {
  const sorted = [...new Set(ids)].sort();
  joined(sorted);
  return sorted;
}

/** `sortedIds` as bytes. */
export function sortedIdBytes(ids: readonly string[]): Buffer[] {
  return sortedIds(ids).map(idToBytes);
}

/**
 * Ids as the list of `IN (?)`, written once for all statements of a batch: a third of their cost was to escape the same
 * two thousand values again. Nothing but hex digits gets in.
 * @throws TypeError as `idToBytes` does.
 */
export function idList(ids: readonly string[]): SqlLiteral {
  return listOf(joined(ids).replaceAll(',', listGlue));
}

/** The same of packed ids. */
export function packedIdList(packed: Buffer): SqlLiteral {
  const hex = packed.toString('hex');
  return listOf(Array.from({ length: packed.length / idBytes }, (_, i) => hexAt(hex, i)).join(listGlue));
}

/** Between two ids of a list. */
const listGlue = "',x'";

function listOf(hexes: string): SqlLiteral {
  return sqlLiteral(`x'${hexes}'`);
}

/**
 * Many ids in one value, 16 bytes each: what an effect row holds.
 * @throws TypeError as `idToBytes` does.
 */
export function packIds(ids: readonly string[]): Buffer {
  return Buffer.from(joined(ids).replaceAll(',', ''), 'hex');
}

export function unpackIds(packed: Buffer): string[] {
  const texts = textsOf(packed);
  return Array.from({ length: packed.length / idBytes }, (_, i) =>
    texts.slice(i * uuidLength, (i + 1) * uuidLength),
  );
}

/**
 * Ids as text, one behind the other. Digit by digit: five slices put together left 300 bytes of garbage an id, and a burst
 * unpacks each id twice.
 */
function textsOf(packed: Buffer): string {
  const digits = Buffer.from(packed.toString('hex'), 'latin1');
  const texts = Buffer.allocUnsafe((packed.length / idBytes) * uuidLength);
  let to = 0;
  for (let from = 0; from < digits.length; ) {
    for (let at = 0; at < uuidLength; at += 1) {
      const isDash = at === 8 || at === 13 || at === 18 || at === 23;
      texts[to++] = isDash ? dash : (digits[from++] as number);
    }
  }
  return texts.toString('latin1');
}

function hexAt(hex: string, index: number): string {
  return hex.slice(index * idBytes * 2, (index + 1) * idBytes * 2);
}
