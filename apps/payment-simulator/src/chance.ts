import { createHash } from 'node:crypto';

/**
 * A number from 0 to 1 that seed, purpose and subject decide and nothing else does: what happens to an attempt is
 * the same in every run, whatever else goes on at the same time.
 */
export function chance(seed: number, purpose: string, subject: string): number {
  const digest = createHash('sha256').update(`${seed}\n${purpose}\n${subject}`).digest();
  return digest.readUIntBE(0, 6) / 2 ** 48;
}
