/**
 * Buyers are compared byte by byte, in MySQL as in Redis: a collation would find "Anna" and "anna" equal
 * where Redis does not, and the stores would disagree on who holds an order. UTF-8, at most 512 bytes.
 */
export function userToBytes(userId: string): Buffer {
  return Buffer.from(userId, 'utf8');
}

export function userFromBytes(bytes: Buffer): string {
  return bytes.toString('utf8');
}
