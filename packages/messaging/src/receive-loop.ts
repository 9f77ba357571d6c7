import { ordersPerMessageMax } from '@lapse/contracts';
import { backOffMs, sleep } from '@lapse/runtime';
import type { MessageView, SimpleConsumer } from 'rocketmq-client-nodejs';
import type { OutageLog } from './outage-log.ts';

/**
 * Messages of one poll. The broker would give 32; but a full one is 180 kB, and the client has what an answer brings twice
 * until all of it is there: four polls of a burst had 30 MB.
 */
const messagesPerPollMax = 8;
/** While the proxy is away a poll fails at once, thousands of times a second if it is let. */
const outageBackOffMs = { minMs: 100, maxMs: 1_000 } as const;
/** How often a loop that has no room looks again. */
const roomCheckMs = 20;

export interface ReceiveOptions {
  readonly consumer: Pick<SimpleConsumer, 'receive'>;
  readonly loops: number;
  readonly invisibleMs: number;
  readonly ordersHeldMax: number;
  readonly ordersHeld: () => number;
  /** No poll starts while it is true. */
  readonly isAway: () => boolean;
  /** Must not throw. `receivedAtMs` is on the monotonic clock, when the answer had come. */
  readonly onMessages: (messages: MessageView[], receivedAtMs: number) => void;
  readonly outage: OutageLog;
}

export interface Receiving {
  /** No poll starts until `resume`. Resolves when those in flight have come back, and what they brought is handed over. */
  hold(): Promise<void>;
  resume(): void;
  /** No poll starts after this. */
  stop(): void;
  /** Resolves when the polls in flight have come back, and what they brought is handed over. */
  readonly ended: Promise<void>;
}

/**
 * Keep several polls open at the broker. A poll is never abandoned: the broker would hand the next
 * messages to it, and they would come back only after their invisible time. So `ended` waits for them.
 *
 * Each poll reserves room for the most it can bring, so `ordersHeldMax` is never exceeded; what does not
 * fit stays in the broker, for another worker or for later.
 */
export function receiveMessages(options: ReceiveOptions): Receiving {
  const stopping = new AbortController();
  const heldMax = Math.max(options.ordersHeldMax, ordersPerMessageMax);
  // An even share, so that no loop holds room that another one could fill.
  const share = Math.floor(heldMax / options.loops / ordersPerMessageMax);
  const messagesPerLoopMax = Math.min(messagesPerPollMax, Math.max(1, share));
  let reserved = 0;
  let polls = 0;
  let isHeld = false;
  let waitingLoops: (() => void)[] = [];
  let waitingForPolls: (() => void)[] = [];

  function wakeLoops(): void {
    for (const wake of waitingLoops) wake();
    waitingLoops = [];
  }

  function messagesThatFit(): number {
    if (options.isAway()) return 0;
    const free = heldMax - options.ordersHeld() - reserved;
    return Math.min(messagesPerLoopMax, Math.floor(free / ordersPerMessageMax));
  }

  async function poll(count: number): Promise<void> {
    reserved += count * ordersPerMessageMax;
    polls += 1;
    try {
      const messages = await options.consumer.receive(count, options.invisibleMs);
      options.onMessages(messages, performance.now());
    } finally {
      reserved -= count * ordersPerMessageMax;
      polls -= 1;
      if (polls === 0) {
        for (const resolve of waitingForPolls) resolve();
        waitingForPolls = [];
      }
    }
  }

  async function loop(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      if (isHeld) {
        await new Promise<void>((wake) => waitingLoops.push(wake));
        continue;
      }
      const count = messagesThatFit();
      if (count < 1) {
        await sleep(roomCheckMs, stopping.signal);
        continue;
      }
      try {
        await poll(count);
        failures = 0;
        options.outage.succeeded();
      } catch (error) {
        failures += 1;
        options.outage.failed(error);
        await sleep(backOffMs(failures, outageBackOffMs), stopping.signal);
      }
    }
  }

  const loops = Array.from({ length: options.loops }, loop);
  return {
    hold: () => {
      isHeld = true;
      return polls === 0 ? Promise.resolve() : new Promise((resolve) => waitingForPolls.push(resolve));
    },
    resume: () => {
      isHeld = false;
      wakeLoops();
    },
    stop: () => {
      stopping.abort();
      wakeLoops();
    },
    ended: Promise.all(loops).then(() => {}),
  };
}
