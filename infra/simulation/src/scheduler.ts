import TinyQueue from 'tinyqueue';
import type { Random } from './random.ts';

/** One life of a process: a restart is another one. Its callbacks run while it lives and is not frozen. */
export interface Incarnation {
  readonly name: string;
  /** How far the wall clock of its machine is from the database clock. */
  readonly wallSkewMs: number;
  alive: boolean;
  frozen: boolean;
}

export interface Timer {
  cancelled: boolean;
}

interface Event extends Timer {
  readonly at: number;
  /** Orders the events of one millisecond: chosen by the seed, not by who came first. */
  readonly tie: number;
  /** Null: the store's or the broker's own step, which no process can stop. */
  readonly owner: Incarnation | null;
  readonly run: () => void;
}

export interface Scheduler {
  /** The database clock, in milliseconds since 1970. The only truth. */
  now(): number;
  /** Whose code runs now; null between steps and in a store. */
  current(): Incarnation | null;
  /** Run later. What a process owns is dropped when it is dead by then, and waits while it is frozen. */
  after(delayMs: number, owner: Incarnation | null, run: () => void): Timer;
  /** Let everything happen up to that time. After each step of a process its promises run to the end. */
  runUntil(untilMs: number): Promise<void>;
  kill(owner: Incarnation): void;
  freeze(owner: Incarnation): void;
  thaw(owner: Incarnation): void;
  /** Steps taken. */
  steps(): number;
}

/** Taken before virtual time replaces the globals: the one real thing that a run waits for. */
const realSetImmediate = setImmediate;
/** Far above the longest run; more is a loop that does not advance the clock. */
const stepsMax = 200_000;

/**
 * A discrete-event scheduler. It knows all that may happen next, and the seed chooses the delays and the order of
 * what happens in one millisecond. One step runs at a time, so that a run is the same whenever it is repeated.
 */
export function createScheduler({
  random,
  startMs,
}: {
  readonly random: Random;
  readonly startMs: number;
}): Scheduler {
  const queue = new TinyQueue<Event>([], (a, b) => a.at - b.at || a.tie - b.tie);
  const waiting = new Map<Incarnation, Event[]>();
  let nowMs = startMs;
  let current: Incarnation | null = null;
  let steps = 0;

  function push(delayMs: number, owner: Incarnation | null, run: () => void): Event {
    const delay = Number.isFinite(delayMs) ? Math.max(0, Math.ceil(delayMs)) : 0;
    const event: Event = { at: nowMs + delay, tie: random.next(), owner, run, cancelled: false };
    queue.push(event);
    return event;
  }

  async function step(event: Event): Promise<void> {
    const { owner, run } = event;
    if (event.cancelled || owner?.alive === false) return;
    if (owner?.frozen) {
      const events = waiting.get(owner) ?? [];
      events.push(event);
      waiting.set(owner, events);
      return;
    }
    steps += 1;
    if (steps > stepsMax) throw new Error(`more than ${stepsMax} steps: something runs without end`);
    current = owner;
    run();
    // Models answer at once; only a process has promises that must run out before the next step.
    if (owner !== null) await new Promise<void>((resolve) => realSetImmediate(resolve));
    current = null;
  }

  return {
    now: () => nowMs,
    current: () => current,
    after: push,
    steps: () => steps,
    runUntil: async (untilMs) => {
      for (let next = queue.peek(); next && next.at <= untilMs; next = queue.peek()) {
        queue.pop();
        nowMs = Math.max(nowMs, next.at);
        await step(next);
      }
      nowMs = Math.max(nowMs, untilMs);
    },
    kill: (owner) => {
      owner.alive = false;
      waiting.delete(owner);
    },
    freeze: (owner) => {
      owner.frozen = true;
    },
    thaw: (owner) => {
      owner.frozen = false;
      for (const event of waiting.get(owner) ?? []) {
        if (!event.cancelled) queue.push({ ...event, at: nowMs, tie: random.next() });
      }
      waiting.delete(owner);
    },
  };
}
