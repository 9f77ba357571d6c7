import type { TimelineNotification, TimelinePayment } from '@lapse/order-repository';
import type { Answer, ExplainedOrder, ExplanationWords } from './explanation.ts';

const toldByNobody: ReadonlySet<TimelinePayment['state']> = new Set([
  ...(['REFUND_PENDING', 'REFUNDED', 'REFUND_FAILED', 'QUARANTINED'] as const),
]);

/** What the buyer was told, and what not. */
export function explainNotices(
  { timeline, nowMs, noticeChannel }: ExplainedOrder,
  words: ExplanationWords,
): Answer {
  const { order, notifications, pendingEffects, payments } = timeline;
  const of = (stage: TimelineNotification['stage']) => notifications.find((notice) => notice.stage === stage);
  const reminder = of('REMINDER');
  const closed = of('CLOSED');
  const says = [reminder ? inWords('reminder', reminder) : noReminder()];
  if (closed) says.push(inWords('notice that the order closed', closed));
  else if (order.status === 'TIMEOUT_CLOSED') says.push(noClosedNotice());
  if (payments.some(({ state }) => toldByNobody.has(state))) {
    says.push(
      'Lapse sends no notice that money came too late or goes back (its page shows it): the shop has to.',
    );
  }
  const parked = notifications.filter(({ state }) => state === 'PARKED');
  return {
    says,
    todo: parked.map(
      ({ id }) =>
        `Once the channel works: lapse undelivered resend ${id} --kind notification --reason TEXT --apply`,
    ),
  };

  function noReminder(): string {
    const due = words.time(order.remindAt);
    const ended = order.closedAt ?? order.paidAt;
    if (order.status !== 'PENDING' && ended && ended < order.remindAt) {
      return `The buyer was not reminded: the order ended before its reminder of ${due}.`;
    }
    if (order.status !== 'PENDING') {
      return `The buyer was not reminded: nothing had come of the reminder of ${due} when the order ended.`;
    }
    if (order.remindAt.getTime() > nowMs) return `The buyer is to be reminded at ${due}.`;
    return `The reminder of ${due} is overdue: its message has not come, and the sweep sends it within 40 s.`;
  }

  function noClosedNotice(): string {
    const effect = pendingEffects.find(({ kind }) => kind === 'closed_notice');
    return effect
      ? `The notice that the order closed is still to be written (effect ${effect.id}, ${effect.attempts} tries).`
      : 'The buyer has no notice that the order closed.';
  }

  function inWords(
    what: string,
    { state, attempts, sentAt, nextAttemptAt, lastError }: TimelineNotification,
  ): string {
    const why = lastError === null ? '' : ` The last answer: ${lastError}`;
    switch (state) {
      case 'SENT':
        return `The ${what} was ${handedTo(noticeChannel)} at ${sentAt ? words.time(sentAt) : 'an unknown time'}.`;
      case 'SKIPPED':
        return `The ${what} was left out, because the order had moved on.`;
      case 'WAITING':
        return `The ${what} is not delivered yet, after ${attempts} tries; the next one is at ${words.time(nextAttemptAt)}.${why}`;
      case 'PARKED':
        return `The buyer did NOT get the ${what}: it was given up after ${attempts} tries.${why}`;
    }
  }
}

/** No notice keeps how it went: so what is set here is named as that, and no more. */
function handedTo(channel: string | undefined): string {
  if (channel === undefined) return 'handed to the notification channel';
  const what = channel === 'log' ? ', which writes a line and sends nothing' : '';
  return `handed to the notification channel (LAPSE_NOTIFY_CHANNEL=${channel}${what})`;
}
