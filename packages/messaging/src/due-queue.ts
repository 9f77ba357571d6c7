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
  readonly messages: Set<HeldMessage<V>>;
  /** When to look at it next, by the clock that decides what is due. */
  dueAt: number;
  /** Look at it to re-arm it, not to handle it: it is due later than its message can be held. */
  far: boolean;
  /** Failures in a row. */
  failures: number;
  place: 'waiting' | 'taken' | 'gone';
}

interface Node<V> {
  readonly dueAt: number;
  readonly held: HeldOrder<V>;
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
  const heap = new TinyQueue<Node<V>>([], (a, b) => a.dueAt - b.dueAt);
  const byId = new Map<string, HeldOrder<V>>();
  let taken = 0;

  /** Moving an order leaves its old node in the heap: TinyQueue cannot reach into the middle. */
  function isStale({ held, dueAt }: Node<V>): boolean {
    return held.place !== 'waiting' || held.dueAt !== dueAt;
  }

  function dropStale(): Node<V> | undefined {
    for (let top = heap.peek(); top; top = heap.peek()) {
      if (!isStale(top)) return top;
      heap.pop();
    }
    return undefined;
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
          messages: new Set([message]),
          dueAt,
          far,
          failures: 0,
          place: 'waiting',
        };
        byId.set(order.orderId, held);
        heap.push({ dueAt, held });
        return;
      }
      if (!known.messages.has(message)) {
        known.messages.add(message);
        message.remaining += 1;
      }
      if (known.place === 'waiting' && dueAt < known.dueAt && known.failures === 0) {
        known.dueAt = dueAt;
        known.far = far;
        heap.push({ dueAt, held: known });
      }
    },

    takeDue(nowMs, max) {
      const due: HeldOrder<V>[] = [];
      for (let top = dropStale(); top && top.dueAt <= nowMs && due.length < max; top = dropStale()) {
        heap.pop();
        top.held.place = 'taken';
        due.push(top.held);
      }
      taken += due.length;
      return due;
    },

    putBack(held, dueAt) {
      taken -= 1;
      held.place = 'waiting';
      held.dueAt = dueAt;
      heap.push({ dueAt, held });
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
    nextDueAt: () => dropStale()?.dueAt,
    size: () => heap.length + taken,
    messages,

    clear() {
      const all = messages();
      for (const held of [...byId.values()]) remove(held);
      dropStale();
      return all;
    },
  };
}
