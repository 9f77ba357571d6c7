import { type Logger, workInLanes } from '@lapse/runtime';
import type { MessageView, SimpleConsumer } from 'rocketmq-client-nodejs';
import type { HeldMessage } from './due-queue.ts';
import { messageOf } from './start-client.ts';

const checkEveryMs = 500;
/** Round trips at once. */
const extensionsMax = 16;
/** No outage is waited for longer: after that the broker delivers again, and in the end gives up. */
const keepMsMax = 12 * 3_600_000;

export interface MessageKeeper {
  /** Keep a message beyond its hold: the store is away, and a delivery used up would be one wasted. */
  keep(message: HeldMessage<MessageView>): void;
  /** Its hold is what it is again: it is done, or its next failure is its own. */
  letGo(message: HeldMessage<MessageView>): void;
  stop(): void;
}

export interface KeeperOptions {
  readonly consumer: Pick<SimpleConsumer, 'changeInvisibleDuration'>;
  readonly invisibleMs: number;
  /** Taken off the invisible time: how much sooner we stop counting on it. */
  readonly marginMs: number;
  readonly log: Logger;
}

/**
 * Renews the invisible time of kept messages when half of it is over, so that the broker does not count a
 * delivery against them while the store is away. A renewal that fails is tried again; once the hold is over
 * without one the message is let go, because the broker has delivered it to somebody by then.
 */
export function createMessageKeeper(options: KeeperOptions): MessageKeeper {
  const { consumer, invisibleMs, marginMs, log } = options;
  const kept = new Map<HeldMessage<MessageView>, { readonly untilMs: number }>();
  let timer: NodeJS.Timeout | undefined;
  let renewing = false;

  function letGo(message: HeldMessage<MessageView>): void {
    kept.delete(message);
    message.isKept = false;
  }

  async function renew(message: HeldMessage<MessageView>, untilMs: number): Promise<void> {
    const askedAtMs = performance.now();
    try {
      if (askedAtMs > untilMs) throw new Error(`kept for ${keepMsMax} ms, which is the most`);
      await consumer.changeInvisibleDuration(message.view, invisibleMs);
      message.holdUntilMs = askedAtMs + invisibleMs - marginMs;
    } catch (error) {
      if (performance.now() < message.holdUntilMs) return;
      log.debug({ reason: messageOf(error) }, 'a message could not be kept; the broker delivers it again');
      letGo(message);
    }
  }

  async function renewAll(): Promise<void> {
    const soonMs = performance.now() + (invisibleMs - marginMs) / 2;
    const waiting = [...kept].filter(([message]) => message.holdUntilMs < soonMs);
    await workInLanes(waiting, extensionsMax, async ([message, { untilMs }]) => {
      if (message.isKept) await renew(message, untilMs);
    });
  }

  function look(): void {
    if (kept.size === 0) {
      clearInterval(timer);
      timer = undefined;
      return;
    }
    if (renewing) return;
    renewing = true;
    void renewAll().finally(() => {
      renewing = false;
    });
  }

  return {
    keep(message) {
      if (message.isKept) return;
      message.isKept = true;
      kept.set(message, { untilMs: performance.now() + keepMsMax });
      timer ??= setInterval(look, checkEveryMs);
    },
    letGo,
    stop() {
      clearInterval(timer);
      timer = undefined;
      kept.clear();
    },
  };
}
