import { v7 } from 'uuid';

/** A new id for an outbox row, an effect, an order in tests: UUID version 7, so that rows go in at the end. */
export function newId(): string {
  return v7();
}

const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * The 16 bytes that MySQL keeps for an id. The only way in: a BINARY(16) compared with text matches
 * nothing, silently.
 * @throws TypeError when the text is not a lower-case UUID: two spellings would be two orders.
 */
export function idToBytes(id: string): Buffer {
  return Buffer.from(hexOf(id), 'hex');
}

function hexOf(id: string): string {
  return checked(id).replaceAll('-', '');
}

function checked(id: string): string {
  if (!shape.test(id)) throw new TypeError(`not a lower-case UUID: ${JSON.stringify(id).slice(0, 60)}`);
  return id;
}

export function idFromBytes(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/**
 * Sorted and without repeats: one lock order for everybody (unsorted ids cost 28% and deadlocks). Text sorts as its
 * bytes do.
 * @throws TypeError as `idToBytes` does.
 */
export function sortedIds(ids: readonly string[]): string[] {
  return [...new Set(ids)].sort().map(checked);
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
export function idList(ids: readonly string[]): { readonly toSqlString: () => string } {
  const list = ids.map((id) => `x'${hexOf(id)}'`).join(',');
  return { toSqlString: () => list };
}

/** Many ids in one value, 16 bytes each: what an effect row holds. */
export function packIds(ids: readonly string[]): Buffer {
  return Buffer.from(ids.map(hexOf).join(''), 'hex');
}

export function unpackIds(packed: Buffer): string[] {
  return Array.from({ length: packed.length / 16 }, (_, index) =>
    idFromBytes(packed.subarray(index * 16, index * 16 + 16)),
  );
}
