import type { Phase } from '@lapse/contracts';
import { backOffMs, type Logger, sleep } from '@lapse/runtime';
import type { MessageView } from 'rocketmq-client-nodejs';
import type { HeldMessage } from './due-queue.ts';
import type { MessageKeeper } from './keep-messages.ts';
import { messagesParked } from './metrics.ts';
import type { ParkedMessage } from './parked-message.ts';

/** Between two tries to park a message while the store is away. */
const parkBackOffMs = { minMs: 100, maxMs: 5_000 } as const;

export interface ParkOptions {
  readonly phase: Phase;
  readonly topic: string;
  readonly park: (message: ParkedMessage) => Promise<void>;
  readonly keeper: Pick<MessageKeeper, 'letGo'>;
  readonly onDone: (message: HeldMessage<MessageView>) => void;
  readonly onFailed: (error: unknown, messages: ReadonlySet<HeldMessage<MessageView>>) => void;
  readonly onWorked: () => void;
  /** Aborts when the process stops: what cannot be parked then comes again. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

export interface Parking {
  add(message: HeldMessage<MessageView>, reason: string): void;
  /** Messages that are not parked yet. */
  size(): number;
  /** Resolves when all that are here now are parked, or given up. */
  idle(): Promise<unknown>;
}

/** Parks messages that cannot be understood, each on its own, and has them acknowledged. */
export function parkRefused(options: ParkOptions): Parking {
  const { phase, topic, park, keeper, onDone, onFailed, onWorked, signal, log } = options;
  const parking = new Set<Promise<void>>();

  async function parkAndAck(message: HeldMessage<MessageView>, reason: string): Promise<void> {
    const { messageId, body } = message.view;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await park({ messageId, phase, reason, body });
        break;
      } catch (error) {
        onFailed(error, new Set([message]));
        if (message.isKept) await sleep(backOffMs(attempt, parkBackOffMs), signal);
        if (message.isKept && !signal.aborted) continue;
        keeper.letGo(message);
        log.warn({ messageId, err: error }, 'a message could not be parked; it comes again');
        return;
      }
    }
    onWorked();
    messagesParked.inc({ phase });
    log.error({ messageId, topic, reason }, 'parked a message that cannot be understood');
    onDone(message);
  }

  return {
    add: (message, reason) => {
      const work = parkAndAck(message, reason).finally(() => parking.delete(work));
      parking.add(work);
    },
    size: () => parking.size,
    idle: () => Promise.all(parking),
  };
}
