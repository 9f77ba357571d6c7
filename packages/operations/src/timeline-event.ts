import type { TimelineEvent } from '@lapse/contracts';

/** One line of an order's timeline. */
export function event(
  at: Date,
  kind: TimelineEvent['kind'],
  what: string,
  detail: TimelineEvent['detail'],
): TimelineEvent {
  return { at: at.toISOString(), kind, what, detail };
}
