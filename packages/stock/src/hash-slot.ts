const slots = 16_384;
const polynomial = 0x1021;

/**
 * The slot that a cluster gives to an activity's keys: CRC16 (XMODEM) of what is between the braces. Written here,
 * since the package that ioredis uses has no types; the cluster's own CLUSTER KEYSLOT checks it in the tests.
 */
export function hashSlot(activityId: number): number {
  let crc = 0;
  for (const byte of Buffer.from(String(activityId))) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) {
      crc = (crc & 0x8000 ? (crc << 1) ^ polynomial : crc << 1) & 0xffff;
    }
  }
  return crc % slots;
}
