import type { TimelineEvent } from '@lapse/contracts';
import type { TimelineNotification } from '@lapse/order-repository';
import { event } from './timeline-event.ts';

/** What became of a notice to the buyer. */
export function notificationEvent(notification: TimelineNotification, forOperator: boolean): TimelineEvent {
  const { stage, state, attempts, createdAt, nextAttemptAt, sentAt } = notification;
  const notice = stage === 'REMINDER' ? 'reminder' : 'closed notice';
  const detail = { stage, state, attempts };
  switch (state) {
    case 'SENT':
      return event(
        sentAt ?? createdAt,
        'notification',
        `${notice} handed to the notification channel`,
        detail,
      );
    case 'SKIPPED':
      return event(createdAt, 'notification', `${notice} left out: the order had moved on`, detail);
    case 'PARKED':
      return event(createdAt, 'notification', `${notice} given up after too many failures`, {
        ...detail,
        ...(forOperator && { noticeRow: notification.id }),
      });
    case 'WAITING':
      return event(createdAt, 'notification', `${notice} waiting to be delivered`, {
        ...detail,
        nextAttemptAt: nextAttemptAt.toISOString(),
      });
  }
}
