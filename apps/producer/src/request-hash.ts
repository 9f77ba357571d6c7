import { hash } from 'node:crypto';
import type { CreateOrderBody } from '@lapse/contracts';

/**
 * What makes two requests with one Idempotency-Key "the same": the activity and the body, after defaults
 * are filled in, in a canonical form. Spelling (key order, white space, a default left out) does not count.
 * @returns SHA-256, 32 bytes.
 */
export function requestHash(activityId: number, body: CreateOrderBody): Buffer {
  const fields = Object.entries(body).sort(([left], [right]) => (left < right ? -1 : 1));
  return hash('sha256', JSON.stringify([activityId, fields]), 'buffer');
}
