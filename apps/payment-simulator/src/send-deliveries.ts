import { backOffMs, type Closable, type Logger } from '@lapse/runtime';
import { Webhook } from 'standardwebhooks';
import { deliveriesEnded } from './metrics.ts';
import type { Delivery } from './records.ts';

export interface SenderOptions {
  readonly url: string;
  readonly secret: string;
  readonly timeoutMs: number;
  readonly triesMax: number;
  /** Called once per delivery: it got through, or was given up. */
  readonly ended: (deliveryId: string, tries: number, gaveUp: boolean) => void;
  readonly log: Logger;
}

export interface Sender extends Closable {
  /** Send it at its time. The caller bounds how many there are. */
  add(delivery: Delivery): void;
}

/** So many receive at a time; the rest wait in order. */
const inFlightMax = 16;
const backOff = { minMs: 100, maxMs: 30_000 };

interface Waiting {
  readonly delivery: Delivery;
  tries: number;
}

/**
 * Delivers events, signed per Standard Webhooks, until the receiver answers 2xx: at least once, in no promised
 * order, as providers do. The signature is made anew for each try, so that its time is that of the try.
 */
export function openSender(options: SenderOptions): Sender {
  const { triesMax, ended, log } = options;
  const webhook = new Webhook(options.secret);
  let stopped = false;
  const cuts = new Set<AbortController>();
  const timers = new Map<Waiting, NodeJS.Timeout>();
  const held = new Set<Waiting>();
  const ready: Waiting[] = [];
  const inFlight = new Set<Promise<void>>();

  const wait = (waiting: Waiting, ms: number): void => {
    if (stopped) return;
    const timer = setTimeout(() => makeReady(waiting), Math.max(0, ms));
    timers.set(waiting, timer);
  };
  const makeReady = (waiting: Waiting): void => {
    clearTimeout(timers.get(waiting));
    timers.delete(waiting);
    held.delete(waiting);
    ready.push(waiting);
    pump();
  };
  const pump = (): void => {
    while (!stopped && inFlight.size < inFlightMax) {
      const waiting = ready.shift();
      if (!waiting) return;
      const run = attempt(waiting).finally(() => {
        inFlight.delete(run);
        pump();
      });
      inFlight.add(run);
    }
  };
  const attempt = async (waiting: Waiting): Promise<void> => {
    const { delivery } = waiting;
    waiting.tries += 1;
    const lost = delivery.firstIsLost && waiting.tries === 1;
    const fault = lost ? 'lost on purpose' : await send(delivery);
    if (stopped && fault !== undefined) return;
    const gaveUp = fault !== undefined && waiting.tries >= triesMax;
    deliveriesEnded.inc({ outcome: fault === undefined ? 'delivered' : gaveUp ? 'given_up' : 'failed' });
    const about = { eventId: delivery.eventId, type: delivery.body.type, tries: waiting.tries, fault };
    if (fault !== undefined && !gaveUp) {
      log.debug(about, 'event not delivered; trying again');
      return wait(waiting, backOffMs(waiting.tries, backOff));
    }
    if (gaveUp) log.error(about, 'event given up');
    finish(waiting, gaveUp);
  };
  const send = async (delivery: Delivery): Promise<string | undefined> => {
    const cut = new AbortController();
    const timer = setTimeout(() => cut.abort(), options.timeoutMs);
    cuts.add(cut);
    try {
      return await post(options.url, webhook, delivery, cut.signal);
    } finally {
      clearTimeout(timer);
      cuts.delete(cut);
    }
  };
  const finish = ({ delivery, tries }: Waiting, gaveUp: boolean): void => {
    try {
      ended(delivery.deliveryId, tries, gaveUp);
    } catch (error) {
      // Not written down: after a restart it is delivered once more, which a receiver must bear anyway.
      log.error({ err: error }, 'the end of a delivery could not be written');
    }
    if (!gaveUp) for (const other of [...held]) makeReady(other);
  };

  return {
    add: (delivery) => {
      const waiting = { delivery, tries: 0 };
      if (delivery.held) held.add(waiting);
      wait(waiting, delivery.sendAt - Date.now());
    },
    close: async () => {
      stopped = true;
      for (const cut of cuts) cut.abort();
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
      await Promise.allSettled(inFlight);
    },
  };
}

/** @returns what went wrong, or undefined when the receiver took it. */
async function post(
  url: string,
  webhook: Webhook,
  { eventId, body }: Delivery,
  signal: AbortSignal,
): Promise<string | undefined> {
  const text = JSON.stringify(body);
  const sentAt = new Date();
  try {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      signal,
      headers: {
        'content-type': 'application/json',
        'webhook-id': eventId,
        'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
        'webhook-signature': webhook.sign(eventId, sentAt, text),
      },
      body: text,
    });
    // The status decides. The rest of the answer is dropped with its connection, if it is not here yet.
    await response.body?.cancel();
    return response.ok ? undefined : `answered ${response.status}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
