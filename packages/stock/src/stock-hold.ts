export interface Hold {
  readonly orderId: string;
  /** Empty for a released order. */
  readonly userId: string;
  /** Units; of a released order those that it gave back. */
  readonly quantity: number;
  readonly state: 'held' | 'sold' | 'released';
  /** When it was reserved, loaded, sold again or released, by the clock of Redis. */
  readonly atMs: number;
  /** Of an order that was released: when it had been reserved; null when it held nothing. */
  readonly heldFromMs: number | null;
}

const orderIdFormat = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether a hold is of an order that MySQL could know: a lower-case UUID. Nobody here writes any other. */
export function isOrderId(text: string): boolean {
  return orderIdFormat.test(text);
}

const states = { h: 'held', s: 'sold', r: 'released' } as const;
const holdFormat = /^([hsr]):(\d{1,15}):(\d{1,15}):(.*)$/s;

/** A hold as the scripts write it, `state:quantity:atMs:user`; null when it is not readable. */
export function parseHold(orderId: string, text: string): Hold | null {
  const [, letter, quantity, atMs, rest] = holdFormat.exec(text) ?? [];
  const state = states[letter as keyof typeof states];
  if (state === undefined || rest === undefined) return null;
  const isReleased = state === 'released';
  return {
    orderId,
    userId: isReleased ? '' : rest,
    quantity: Number(quantity),
    state,
    atMs: Number(atMs),
    heldFromMs: isReleased && /^\d{1,15}$/.test(rest) ? Number(rest) : null,
  };
}
