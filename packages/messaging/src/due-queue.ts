import type { TimeoutOrder } from '@lapse/contracts';
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

/** An order in hand. One for each order id, however many messages brought it. */
export interface HeldOrder<V> {
  readonly order: TimeoutOrder;
  /** That brought it: one, but for duplicates. */
  readonly messages: HeldMessage<V>[];
  /** When to look at it next, by the clock that decides what is due. */
  dueAt: number;
  /** Look at it to re-arm it, not to handle it: it is due later than its message can be held. */
  far: boolean;
  /** Failures in a row. */
  failures: number;
  place: 'waiting' | 'taken' | 'gone';
}

/** Orders to look at at the same time: thousands, in a burst. */
interface Moment<V> {
  readonly dueAt: number;
  /** Emptied from the front. */
  readonly orders: (HeldOrder<V> | undefined)[];
  passed: number;
}

export interface DueQueue<V> {
  /** Take an order of a message in hand. A second delivery joins the first, at the earlier of their times. */
  add(order: TimeoutOrder, message: HeldMessage<V>, when: { dueAt: number; far: boolean }): void;
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

  function push(held: HeldOrder<V>): void {
    places += 1;
    const moment = byTime.get(held.dueAt);
    if (moment) {
      moment.orders.push(held);
      return;
    }
    const first = { dueAt: held.dueAt, orders: [held], passed: 0 };
    byTime.set(held.dueAt, first);
    moments.push(first);
  }

  /** The earliest order that waits. Moving an order leaves its old place behind: those are dropped here. */
  function peek(): HeldOrder<V> | undefined {
    for (let moment = moments.peek(); moment; moment = moments.peek()) {
      for (; moment.passed < moment.orders.length; pass(moment)) {
        const held = moment.orders[moment.passed];
        if (held?.place === 'waiting' && held.dueAt === moment.dueAt) return held;
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
    byId.delete(held.order.orderId);
  }

  function messages(): Set<HeldMessage<V>> {
    const all = new Set<HeldMessage<V>>();
    for (const held of byId.values()) for (const message of held.messages) all.add(message);
    return all;
  }

  return {
    add(order, message, { dueAt, far }) {
      const known = byId.get(order.orderId);
      if (!known) {
        message.remaining += 1;
        const held: HeldOrder<V> = {
          order,
          messages: [message],
          dueAt,
          far,
          failures: 0,
          place: 'waiting',
        };
        byId.set(order.orderId, held);
        push(held);
        return;
      }
      if (!known.messages.includes(message)) {
        known.messages.push(message);
        message.remaining += 1;
      }
      if (known.place === 'waiting' && dueAt < known.dueAt && known.failures === 0) {
        known.dueAt = dueAt;
        known.far = far;
        push(known);
      }
    },

    takeDue(nowMs, max) {
      const due: HeldOrder<V>[] = [];
      for (let held = peek(); held && held.dueAt <= nowMs && due.length < max; held = peek()) {
        held.place = 'taken';
        due.push(held);
      }
      taken += due.length;
      return due;
    },

    putBack(held, dueAt) {
      taken -= 1;
      held.place = 'waiting';
      held.dueAt = dueAt;
      push(held);
    },

    finish(held) {
      remove(held);
      const done: HeldMessage<V>[] = [];
      for (const message of held.messages) {
        message.remaining -= 1;
        if (message.remaining === 0) done.push(message);
      }
      return done;
    },

    forget: remove,
    nextDueAt: () => peek()?.dueAt,
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
