import { ReplyError } from 'ioredis';
import { answerText } from './answer-text.ts';
import { HoldDiffersError } from './hold-differs.ts';
import type { RedisClient } from './redis-client.ts';
import {
  type Reservation,
  type ReservationPlace,
  type ReserveAnswer,
  type ReserveArguments,
  type ReserveResult,
  reservationsPerCallMax,
  reserve,
  toArguments,
} from './reserve.ts';

interface Entry {
  readonly order: ReserveArguments;
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
 * call of Redis for up to 128 of them, where a rush would make one each. A lone one goes at the end of its turn, without
 * a timer. Nothing waits for an earlier call, so what gathers is bounded by the requests that are being served.
 *
 * Each is decided as if it came alone. Where Redis takes no writes now, each is asked for again by itself, so that whoever
 * is refused a place anyway still hears it. By any other failure, and without an answer, it is unknown for all of them, and
 * each is repeated or released by whoever asked.
 * @returns a function that throws
 *   {StockUnavailableError} when the outcome is unknown: repeat it, or release the order.
 *   {HoldDiffersError} when the order is held for another user or quantity: order ids were mixed up.
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

  return (reservation) =>
    new Promise((resolve, reject) => {
      const { activityId, generation, stockRunId } = reservation;
      const entry = { order: toArguments(reservation), resolve, reject };
      if (gathered.size === 0) setImmediate(flush);
      const key = `${activityId}:${generation}:${stockRunId}`;
      const gathering = gathered.get(key);
      if (gathering) gathering.entries.push(entry);
      else gathered.set(key, { place: { activityId, generation, stockRunId }, entries: [entry] });
    });
}

/** Never rejects: every entry is answered. */
async function send(client: RedisClient, place: ReservationPlace, entries: readonly Entry[]): Promise<void> {
  try {
    const answers = await reserve(
      client,
      place,
      entries.map(({ order }) => order),
    );
    answers.forEach((answer, index) => {
      settle(entries[index] as Entry, answer);
    });
  } catch (error) {
    const again = entries.length > 1 && takesNoWrites(error);
    for (const entry of entries) again ? void send(client, place, [entry]) : entry.reject(error);
  }
}

function settle({ order: [orderId], resolve, reject }: Entry, kind: ReserveAnswer): void {
  if (kind !== 'differs') resolve({ kind });
  else reject(new HoldDiffersError(`order ${orderId} is held for another buyer or quantity`));
}

/**
 * Answers to the first write of a script, before which it left no trace. Not READONLY, after which the connection is left
 * for one to the new master; and not a right that is missing, which may be that of the second write: each call would take
 * units that no order holds.
 */
const noWrites = /^(OOM|MISCONF|NOREPLICAS)\b/;

function takesNoWrites(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && cause instanceof ReplyError && noWrites.test(answerText(cause));
}
