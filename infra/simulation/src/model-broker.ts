import type { Phase, TimeoutMessage } from '@lapse/contracts';
import type { Faults } from './faults.ts';
import type { Random } from './random.ts';
import type { Incarnation, Scheduler } from './scheduler.ts';

/** A message as the broker keeps it. */
export interface ModelMessage {
  readonly id: string;
  readonly body: TimeoutMessage;
  attempts: number;
  /** `lost`: by a fault, told to nobody. `dead`: delivered too often. */
  state: 'waiting' | 'delivered' | 'acked' | 'lost' | 'dead';
}

export interface Delivery {
  readonly message: ModelMessage;
  /** Tells this delivery from a later one of the same message. */
  readonly attempt: number;
}

export interface Subscriber {
  readonly owner: Incarnation;
  readonly phase: Phase;
  readonly onMessage: (delivery: Delivery) => void;
}

export interface ModelBroker {
  readonly messages: readonly ModelMessage[];
  subscribe(subscriber: Subscriber): void;
  send(body: TimeoutMessage, deliverAtMs: number): string;
  ack(delivery: Delivery): void;
}

/** How long a delivered message is nobody else's; the real one is 30 s at least, the times here are scaled. */
export const invisibleMs = 10_000;
/** Deliveries of one message; one more, and it is a dead letter. */
const attemptsMax = 17;
/** How far the broker's clock may be off, and how long a message may be held up. */
const earlyMsMax = 90_000;
const lateMsMax = 30_000;
/** Until a subscriber is looked for again. */
const lookAgainMs = 500;

/**
 * RocketMQ, as the workers see it: a delay message comes at its time or later, once or more, in any order, to one
 * of those who ask, and again until it is acknowledged. Faults lose, double, hold up and hurry messages.
 */
export function createModelBroker({
  scheduler,
  random,
  faults,
}: {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly faults: Faults;
}): ModelBroker {
  const messages: ModelMessage[] = [];
  let subscribers: Subscriber[] = [];

  function keep(body: TimeoutMessage, deliverAtMs: number): string {
    const message: ModelMessage = { id: `m${messages.length + 1}`, body, attempts: 0, state: 'waiting' };
    messages.push(message);
    if (faults.strikes('broker-loses')) {
      message.state = 'lost';
      return message.id;
    }
    let at = deliverAtMs + random.int(20, 180);
    if (faults.strikes('broker-late')) at += random.int(1, lateMsMax);
    if (faults.strikes('broker-early')) at -= random.int(1, earlyMsMax);
    scheduler.after(at - scheduler.now(), null, () => deliver(message));
    return message.id;
  }

  function deliver(message: ModelMessage): void {
    if (message.state === 'acked') return;
    if (message.attempts >= attemptsMax) {
      message.state = 'dead';
      return;
    }
    subscribers = subscribers.filter(({ owner }) => owner.alive);
    const able = subscribers.filter(({ phase }) => phase === message.body.phase);
    if (able.length === 0) {
      scheduler.after(lookAgainMs, null, () => deliver(message));
      return;
    }
    const { owner, onMessage } = random.pick(able);
    message.attempts += 1;
    message.state = 'delivered';
    const delivery: Delivery = { message, attempt: message.attempts };
    scheduler.after(random.int(0, 5), owner, () => onMessage(delivery));
    // The dead and the frozen do not answer: it comes again, to whoever asks then.
    scheduler.after(invisibleMs + random.int(0, 4_000), null, () => {
      if (message.state === 'delivered' && message.attempts === delivery.attempt) deliver(message);
    });
  }

  return {
    messages,
    subscribe: (subscriber) => {
      subscribers.push(subscriber);
    },
    send: (body, deliverAtMs) => {
      if (faults.strikes('broker-doubles')) keep(body, deliverAtMs);
      return keep(body, deliverAtMs);
    },
    ack: ({ message, attempt }) => {
      // The receipt of an earlier delivery is worth nothing once the message has come again.
      if (message.state === 'delivered' && message.attempts === attempt) message.state = 'acked';
    },
  };
}
