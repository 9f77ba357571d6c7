import TinyQueue from 'tinyqueue';

/** A received message, until all of its orders are done. */
export interface HeldMessage<V> {
  /** What acknowledges it. */
  readonly view: V;
  /** On the monotonic clock: from then on the broker delivers it again. Moves on while the message is kept. */
  holdUntilMs: number;
  /** Held on to beyond that, because the store is away and the message is not at fault. */
  isKept: boolean;
  /** Orders of it that are not done. */
  remaining: number;
}

/** What is kept of an order: the rest of it is read from its row. */
export interface DueOrder {
  readonly orderId: string;
}

/**
 * An order in hand. One for each order id, however many messages brought it. A burst keeps a hundred thousand of them, so
 * each has few fields and no object of its own beside it: 180 bytes with its id and its places, and it was 420.
 */
export interface HeldOrder<V> extends DueOrder {
  /** That brought it: one, or a list where there are duplicates. */
  messages: HeldMessage<V> | HeldMessage<V>[];
  /** When to look at it next. */
  moment: Moment<V>;
  /** Look at it to re-arm it, not to handle it: it is due later than its message can be held. */
  far: boolean;
  /** Failures in a row. */
  failures: number;
  place: 'waiting' | 'taken' | 'gone';
}

/** Orders to look at at the same time: thousands, in a burst. */
interface Moment<V> {
  /** By the clock that decides what is due. */
  readonly dueAt: number;
  /** Emptied from the front. */
  readonly orders: (HeldOrder<V> | undefined)[];
  passed: number;
}

export interface DueQueue<V> {
  /** Take an order of a message in hand. A second delivery joins the first, at the earlier of their times. */
  add(orderId: string, message: HeldMessage<V>, when: { dueAt: number; far: boolean }): void;
  /** Orders due at `nowMs`, earliest first. They stay known, so that a duplicate still joins them. */
  takeDue(nowMs: number, max: number): HeldOrder<V>[];
  /** Put a taken order back, to be looked at again at `dueAt`. */
  putBack(held: HeldOrder<V>, dueAt: number): void;
  /** A taken order is done. @returns the messages that have no other order left: acknowledge them. */
  finish(held: HeldOrder<V>): HeldMessage<V>[];
  /** Drop an order without finishing it: its messages are never acknowledged, the broker delivers them again. */
  forget(held: HeldOrder<V>): void;
  nextDueAt(): number | undefined;
  /** What it keeps in memory, counted in orders: those waiting, those taken, and places left behind by moves. */
  size(): number;
  /** Messages with an order that waits or is taken. */
  messages(): Set<HeldMessage<V>>;
  /** Drop every order, as `forget` does. @returns their messages. Nothing may be taken when it is called. */
  clear(): Set<HeldMessage<V>>;
}

/** The orders a worker holds, by due time, each id once. Not bounded by itself: whoever adds asks `size()`. */
export function createDueQueue<V>(): DueQueue<V> {
  const moments = new TinyQueue<Moment<V>>([], (a, b) => a.dueAt - b.dueAt);
  const byTime = new Map<number, Moment<V>>();
  const byId = new Map<string, HeldOrder<V>>();
  /** Places in all moments that are not passed. */
  let places = 0;
  let taken = 0;

  function momentAt(dueAt: number): Moment<V> {
    const known = byTime.get(dueAt);
    if (known) return known;
    const moment: Moment<V> = { dueAt, orders: [], passed: 0 };
    byTime.set(dueAt, moment);
    moments.push(moment);
    return moment;
  }

  function push(held: HeldOrder<V>): void {
    places += 1;
    held.moment.orders.push(held);
  }

  /** The earliest order that waits. Moving an order leaves its old place behind: those are dropped here. */
  function peek(): HeldOrder<V> | undefined {
    for (let moment = moments.peek(); moment; moment = moments.peek()) {
      for (; moment.passed < moment.orders.length; pass(moment)) {
        const held: HeldOrder<V> | undefined = moment.orders[moment.passed];
        if (held?.place === 'waiting' && held.moment === moment) return held;
      }
      moments.pop();
      byTime.delete(moment.dueAt);
    }
    return undefined;
  }

  function pass(moment: Moment<V>): void {
    // Its memory goes with it, though the moment may have thousands to come.
    moment.orders[moment.passed] = undefined;
    moment.passed += 1;
    places -= 1;
  }

  function remove(held: HeldOrder<V>): void {
    if (held.place === 'taken') taken -= 1;
    held.place = 'gone';
    byId.delete(held.orderId);
  }

  function messages(): Set<HeldMessage<V>> {
    const all = new Set<HeldMessage<V>>();
    for (const held of byId.values()) for (const message of messagesOf(held)) all.add(message);
    return all;
  }

  return {
    add(orderId, message, { dueAt, far }) {
      const known = byId.get(orderId);
      if (!known) {
        message.remaining += 1;
        const held: HeldOrder<V> = {
          orderId,
          messages: message,
          moment: momentAt(dueAt),
          far,
          failures: 0,
          place: 'waiting',
        };
        byId.set(orderId, held);
        push(held);
        return;
      }
      const messages = messagesOf(known);
      if (!messages.includes(message)) {
        known.messages = [...messages, message];
        message.remaining += 1;
      }
      if (known.place === 'waiting' && dueAt < known.moment.dueAt && known.failures === 0) {
        known.moment = momentAt(dueAt);
        known.far = far;
        push(known);
      }
    },

    takeDue(nowMs, max) {
      const due: HeldOrder<V>[] = [];
      for (let held = peek(); held && held.moment.dueAt <= nowMs && due.length < max; held = peek()) {
        held.place = 'taken';
        due.push(held);
      }
      taken += due.length;
      return due;
    },

    putBack(held, dueAt) {
      taken -= 1;
      held.place = 'waiting';
      held.moment = momentAt(dueAt);
      push(held);
    },

    finish(held) {
      remove(held);
      const done: HeldMessage<V>[] = [];
      for (const message of messagesOf(held)) {
        message.remaining -= 1;
        if (message.remaining === 0) done.push(message);
      }
      return done;
    },

    forget: remove,
    nextDueAt: () => peek()?.moment.dueAt,
    size: () => places + taken,
    messages,

    clear() {
      const all = messages();
      for (const held of [...byId.values()]) remove(held);
      peek();
      return all;
    },
  };
}

/** The messages that brought an order. */
export function messagesOf<V>({ messages }: HeldOrder<V>): readonly HeldMessage<V>[] {
  return Array.isArray(messages) ? messages : [messages];
}
