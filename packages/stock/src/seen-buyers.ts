import { crc32 } from 'node:zlib';

/** Of a sale whose places were all taken once, 3 of 100 strangers meet another buyer's bit; taken five times, 14. */
const bitsPerPlace = 32;
/** 1 KiB and 4 MiB. Beyond a million places strangers meet taken bits more often; their refusal costs a query then. */
const bitsMin = 2 ** 13;
const bitsMax = 2 ** 25;
export const mapBytesMax = bitsMax / 8;

/**
 * Where a buyer's bit is: the CRC-32 of the user id's UTF-8 bytes, modulo the number of bits of the map that is
 * there. Taken here, since Lua in Redis has no hash as cheap; alike in every process and every version.
 */
export function hashBuyer(userId: string): number {
  return crc32(userId);
}

/**
 * The map of `activity:{ID}:seen` for a load: a Bloom filter with one hash, which says of a buyer "never had an order
 * here", surely, or "may have had one". As long as the load lasts it keeps its size, whatever becomes of the capacity,
 * so that every process finds the same bit. Bits are counted as Redis does: the first is the highest of its byte.
 */
export function mapBuyers(capacity: number, buyers: Iterable<string>): Buffer {
  const bits = Math.min(bitsMax, Math.max(bitsMin, 2 ** Math.ceil(Math.log2(capacity * bitsPerPlace))));
  const map = Buffer.alloc(bits / 8);
  for (const userId of buyers) {
    const { byte, bit } = placeOf(userId, map);
    map[byte] = (map[byte] ?? 0) | bit;
  }
  return map;
}

/** Whether a buyer may have had an order. An empty map knows nobody, and so says it of everybody. */
export function maySee(map: Buffer, userId: string): boolean {
  if (map.length === 0) return true;
  const { byte, bit } = placeOf(userId, map);
  return ((map[byte] ?? 0) & bit) !== 0;
}

function placeOf(userId: string, map: Buffer): { byte: number; bit: number } {
  const at = hashBuyer(userId) % (map.length * 8);
  return { byte: Math.floor(at / 8), bit: 0x80 >> (at % 8) };
}
