import type { RedisClient } from './redis-client.ts';
import {
  type Reservation,
  type ReservationPlace,
  type ReserveResult,
  reservationsPerCallMax,
  reserve,
} from './reserve.ts';

interface Entry {
  readonly reservation: Reservation;
  readonly resolve: (result: ReserveResult) => void;
  readonly reject: (error: unknown) => void;
}

/** Of one turn, for one activity as one generation and server: what goes in one call. */
interface Gathering {
  readonly place: ReservationPlace;
  readonly entries: Entry[];
}

/**
 * Hold stock for one order, with all others of its activity that are asked for in the same turn of the event loop: one
 * call of Redis for up to 256 of them, where a rush would make one each. A lone one goes at the end of its turn, without
 * a timer. Nothing waits for an earlier call, so what gathers is bounded by the requests that are being served.
 *
 * Each is decided as if it came alone; what fails for the call fails for each of its orders, which are repeated or
 * released one by one.
 * @returns a function that throws
 *   {StockUnavailableError} when the outcome is unknown: repeat it, or release the order.
 *   {Error} when the order is held for another user or quantity: order ids were mixed up.
 *   {RangeError} for a quantity or an activity that is no positive whole number.
 */
export function gatherReserves(client: RedisClient): (reservation: Reservation) => Promise<ReserveResult> {
  let gathered = new Map<string, Gathering>();

  function flush(): void {
    const turn = gathered;
    gathered = new Map();
    for (const { place, entries } of turn.values()) {
      for (let at = 0; at < entries.length; at += reservationsPerCallMax) {
        void send(client, place, entries.slice(at, at + reservationsPerCallMax));
      }
    }
  }

  return (reservation) => {
    const { activityId, generation, stockRunId, quantity } = reservation;
    if (!Number.isSafeInteger(quantity) || quantity <= 0) {
      return Promise.reject(new RangeError(`A quantity is a positive whole number, not ${quantity}.`));
    }
    return new Promise((resolve, reject) => {
      if (gathered.size === 0) setImmediate(flush);
      const key = `${activityId}:${generation}:${stockRunId}`;
      const entry = { reservation, resolve, reject };
      const gathering = gathered.get(key);
      if (gathering) gathering.entries.push(entry);
      else gathered.set(key, { place: { activityId, generation, stockRunId }, entries: [entry] });
    });
  };
}

/** Never rejects: every entry is answered. */
async function send(client: RedisClient, place: ReservationPlace, entries: readonly Entry[]): Promise<void> {
  try {
    const reservations = entries.map(({ reservation }) => reservation);
    const kinds = await reserve(client, place, reservations);
    entries.forEach(({ reservation: { orderId }, resolve, reject }, index) => {
      const kind = kinds[index] ?? 'differs';
      if (kind === 'differs') reject(heldOtherwise(orderId));
      else resolve({ kind });
    });
  } catch (error) {
    for (const { reject } of entries) reject(error);
  }
}

function heldOtherwise(orderId: string): Error {
  return new Error(`LAPSE_STOCK_HOLD_DIFFERS order ${orderId} is held for another buyer or quantity`);
}
