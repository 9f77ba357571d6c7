import type { OutboxRow } from '@lapse/contracts';
import { type Closable, type Logger, observeBatch, showQueue } from '@lapse/runtime';
import { type SendOutcome, type SendSettings, sendOutboxRows } from './send-outbox-rows.ts';
import { messageOf } from './start-client.ts';
import type { TimeoutSender } from './timeout-sender.ts';

/** Above this many rows in memory new ones are left to the sweeper, which reads them from MySQL. */
const rowsMax = 10_000;

export interface RelayOptions extends SendSettings {
  readonly sender: Pick<TimeoutSender, 'send'>;
  /** How long rows gather before they are sent together. */
  readonly gatherMs: number;
  /** Marks rows as sent in MySQL. A row it does not mark is sent again by the sweeper. */
  readonly markSent: (rows: SendOutcome['sent']) => Promise<void>;
  readonly log: Logger;
}

export interface Relay extends Closable {
  /** Take a row that is committed. Never throws and never waits. */
  add(row: OutboxRow): void;
  /** No row waits to be sent, and none is being sent. */
  isIdle(): boolean;
}

/**
 * Sends outbox rows soon after their commit, many in one message. It is only the fast way: whatever it
 * loses, by a crash, a full buffer or a failed send, is still unsent in MySQL, and the sweeper sends it.
 */
export function openRelay(options: RelayOptions): Relay {
  let rows: OutboxRow[] = [];
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | undefined;
  let troubled = false;

  function arm(): void {
    if (timer === undefined && flushing === undefined && rows.length > 0) {
      timer = setTimeout(() => {
        void flush();
      }, options.gatherMs);
    }
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    flushing ??= sendGathered().finally(() => {
      flushing = undefined;
      arm();
    });
    return flushing;
  }

  async function sendGathered(): Promise<void> {
    const batch = rows;
    rows = [];
    observeBatch('send', batch.length);
    try {
      const { sent, failed } = await sendOutboxRows(options.sender, batch, options);
      if (sent.length > 0) await options.markSent(sent);
      if (failed.length > 0) throw new Error(`${failed.length} rows not sent: ${failed[0]?.error}`);
      troubled = false;
    } catch (error) {
      trouble(messageOf(error));
    }
  }

  /** Logged once per trouble: the sweeper repairs it, and its own metrics tell how much is waiting. */
  function trouble(reason: string): void {
    if (!troubled) options.log.warn({ reason }, 'outbox rows are left to the sweeper');
    troubled = true;
  }

  showQueue('send', () => rows.length);
  return {
    add(row) {
      if (rows.length >= rowsMax) return trouble(`${rowsMax} rows are waiting`);
      rows.push(row);
      arm();
    },
    isIdle: () => rows.length === 0 && flushing === undefined,
    async close() {
      await flushing;
      if (rows.length > 0) await flush();
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
