import { randomUUID } from 'node:crypto';

/** Hexadecimal digits of the time in a UUID of version 7: 48 bits of milliseconds. */
const timeDigits = 12;

/**
 * A new order's id: UUID version 7, by this process's clock. The random part is that of one of Node's own UUIDs, with
 * the time put before it: Node draws random bytes for many at once, and a package that draws them for each took a
 * twentieth of the CPU of a refusal.
 */
export function newOrderId(): string {
  const time = Date.now().toString(16).padStart(timeDigits, '0');
  // xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx: all after the 4 is as random here as there.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
