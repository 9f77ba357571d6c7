import type { TimeoutSender } from '@lapse/messaging';
import type { Closable } from '@lapse/runtime';

export interface KeptSender extends Closable {
  /** The one sender, opened at the first call that succeeds. */
  readonly take: () => Promise<TimeoutSender>;
  /** Rejects while there is no sender or the broker does not answer. */
  readonly ping: () => Promise<void>;
}

/**
 * A sender that is opened when it is first needed and kept from then on. The sweeper exists for the time
 * when the broker is dead or has lost its topics, so it must start at once and without it; opening is
 * tried again at the next need.
 */
export function keepSender(open: () => Promise<TimeoutSender>): KeptSender {
  let sender: TimeoutSender | undefined;
  let opening: Promise<TimeoutSender> | undefined;
  let closed = false;

  const take = async (): Promise<TimeoutSender> => {
    if (sender) return sender;
    if (closed) throw new Error('the sweeper is stopping');
    opening ??= open();
    try {
      sender = await opening;
      return sender;
    } finally {
      opening = undefined;
    }
  };
  return {
    take,
    ping: async () => (await take()).ping(),
    close: async () => {
      closed = true;
      // One that is still being opened must not stay behind; one that fails to open needs no closing.
      const last = sender ?? (await opening?.catch(() => undefined));
      await last?.close();
    },
  };
}
