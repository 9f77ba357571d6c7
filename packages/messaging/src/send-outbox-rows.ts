import type { OutboxRow } from '@lapse/contracts';
import { workInLanes } from '@lapse/runtime';
import { groupByDueTime, type MessageGroup } from './group-by-due-time.ts';
import { messageOf } from './start-client.ts';
import type { SentMessage, TimeoutSender } from './timeout-sender.ts';

/** Messages in flight at once: a message takes some 5 ms, mostly waiting. */
const sendsMax = 8;
/** Once this many sends in a row failed the broker is away: the rest fails at once, instead of 9 s each. */
const failuresInARowMax = sendsMax;

export interface SendSettings {
  /** Phase 2 is delivered this early; the worker holds the order until its own millisecond. */
  readonly closeLeadMs: number;
  readonly dueWindowMs: number;
}

export interface SendOutcome {
  /** `messageId` and `deliverAt` are those of the earliest message with an order of the row. */
  readonly sent: { id: string; messageId: string; deliverAt: number }[];
  /** Rows with at least one order unsent. Send them whole again: consumers take duplicates. */
  readonly failed: { id: string; error: string }[];
}

/** Send outbox rows in as few messages as possible. Never throws: each row is reported sent or failed. */
export async function sendOutboxRows(
  sender: Pick<TimeoutSender, 'send'>,
  rows: readonly OutboxRow[],
  settings: SendSettings,
): Promise<SendOutcome> {
  const groups = groupByDueTime(rows, settings);
  const sentByRow = new Map<string, SentMessage>();
  const errorByRow = new Map<string, string>();
  let failuresInARow = 0;
  let lastError = '';

  async function sendGroup({ message, rowIds }: MessageGroup): Promise<void> {
    const leadMs = message.phase === 2 ? settings.closeLeadMs : 0;
    try {
      if (failuresInARow >= failuresInARowMax) throw new Error(lastError);
      const sent = await sender.send(message, message.dueTime - leadMs);
      failuresInARow = 0;
      for (const id of rowIds) {
        const known = sentByRow.get(id);
        if (!known || sent.deliverAt < known.deliverAt) sentByRow.set(id, sent);
      }
    } catch (error) {
      failuresInARow += 1;
      lastError = messageOf(error);
      for (const id of rowIds) errorByRow.set(id, lastError);
    }
  }

  await workInLanes(groups, sendsMax, sendGroup);

  return {
    sent: [...sentByRow]
      .filter(([id]) => !errorByRow.has(id))
      .map(([id, { messageId, deliverAt }]) => ({ id, messageId, deliverAt })),
    failed: [...errorByRow].map(([id, error]) => ({ id, error })),
  };
}
