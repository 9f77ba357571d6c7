import type { TimelineEvent } from '@lapse/contracts';
import type { TimelineAction } from '@lapse/order-repository';
import { event } from './timeline-event.ts';

/** What an operator did by hand, and the numbers of it in plain names. */
export function actionEvent(
  { at, actor, action, reason, detail }: TimelineAction,
  forOperator: boolean,
): TimelineEvent {
  const about: Record<string, string | number | null> = { action };
  for (const [name, value] of Object.entries(detail)) {
    const isPlain = typeof value === 'string' || typeof value === 'number' || value === null;
    if (isPlain) about[detailNames[name] ?? name] = value;
  }
  return event(at, 'operator', actionWords[action] ?? 'changed by an operator', {
    ...about,
    ...(forOperator && { operator: actor, reason }),
  });
}

const actionWords: Readonly<Partial<Record<string, string>>> = {
  'order.cancel': 'cancelled by an operator',
  'order.close': 'closed by an operator, past its deadline',
  'order.extend': 'deadline moved by an operator',
  'payment.dismiss': 'payment found to be no money, by an operator',
  'payment.refund': 'refund ordered by an operator',
  'refund.paid_by_hand': 'refund paid by hand, by an operator',
  resend_notification: 'notice to be sent again, by an operator',
  resend_shop_event: 'event for the shop to be sent again, by an operator',
};
const detailNames: Readonly<Partial<Record<string, string>>> = {
  from: 'oldDeadline',
  to: 'newDeadline',
};
