import type { Timeline, TimelineTransition } from '@lapse/order-repository';
import { durationInWords } from './duration-in-words.ts';
import { explainPayingOrder, explainUndecidedClose } from './explain-attempts.ts';
import type { Answer, ExplainedOrder, ExplanationWords } from './explanation.ts';

/** Why the order is in the state that it is in. */
export function explainState(explained: ExplainedOrder, words: ExplanationWords): Answer {
  const { timeline } = explained;
  const { order, transitions } = timeline;
  const last = transitions.at(-1);
  const { says: setAside, todo = [] } = explainParked(timeline, words);
  return { says: [...explainStatus(), ...setAside], todo };

  function explainStatus(): readonly string[] {
    switch (order.status) {
      case 'PENDING':
        return explainPending(explained, words);
      case 'PAID':
        return [explainPaid(timeline, last, words)];
      case 'CANCELLED':
        return [explainCancelled(timeline, last, words)];
      case 'TIMEOUT_CLOSED':
        return explainClosed(explained, last, words);
      case 'ABORTED':
        return [
          'It was never sold: its places were reserved in Redis, but the order was not written within the time that ' +
            'a producer has for it. So it was fenced, and its places went back.',
        ];
    }
  }
}

function explainPending(explained: ExplainedOrder, words: ExplanationWords): string[] {
  const { order, messages } = explained.timeline;
  const { time } = words;
  const paying = explainPayingOrder(explained, words);
  const leftMs = order.expiresAt.getTime() - explained.nowMs;
  if (leftMs > 0) {
    const left = durationInWords(leftMs);
    return [`It is unpaid and pending. It closes in ${left}, at ${time(order.expiresAt)}.`, ...paying];
  }
  const late = `It is unpaid and past its deadline of ${time(order.expiresAt)} by ${durationInWords(-leftMs)}.`;
  if (paying.length > 0) return [late, ...paying];
  const close = messages.findLast(({ phase }) => phase === 2);
  if (!close) return [`${late} It has no close message yet; the sweep closes it.`];
  if (close.sentAt)
    return [
      `${late} Its close message was sent at ${time(close.sentAt)}; if it is lost, the sweep closes it.`,
    ];
  return [`${late} RocketMQ has not taken its close message (${close.attempts} tries); the sweep closes it.`];
}

function explainParked({ order, parked }: Timeline, { time }: ExplanationWords): Answer {
  const isOpen = order.status === 'PENDING';
  return {
    says: parked.map(({ reason, createdAt }) => {
      const since = `It was set aside at ${time(createdAt)}: ${reason}.`.replace(/\.\.$/, '.');
      return isOpen
        ? `${since} It waits for a person.`
        : `${since} It has ended since, and needs nothing more.`;
    }),
    todo: parked.map(({ id }) =>
      isOpen
        ? `Once the cause is gone: lapse parked redrive ${id} --reason TEXT --apply`
        : `Take it off the list: lapse parked drop ${id} --reason TEXT --apply`,
    ),
  };
}

function explainPaid(
  { order, payments }: Timeline,
  last: TimelineTransition | undefined,
  { time, amount }: ExplanationWords,
): string {
  const at = time(order.paidAt ?? last?.at ?? order.createdAt);
  const kept = payments.find(({ state }) => state === 'CAPTURED');
  const by = kept ? ` by payment ${kept.paymentId} of ${amount(kept.amountMinor, kept.currency)}` : '';
  if (last !== undefined && last.debit > 0) {
    return `It had closed, and was then paid${by}: at ${at} it took free places again, as its activity allows.`;
  }
  return `It was paid at ${at}${by}, before it closed.`;
}

function explainCancelled(
  { actions }: Timeline,
  last: TimelineTransition | undefined,
  { time }: ExplanationWords,
): string {
  const at = last ? time(last.at) : 'an unknown time';
  if (last?.cause !== 'operator') return `Its buyer cancelled it at ${at}.`;
  const action = actions.findLast((each) => each.action === 'order.cancel');
  return `${last.actor ?? 'An operator'} cancelled it by hand at ${at}${action ? `: ${action.reason}` : ''}.`;
}

const closers = {
  message: 'by its timeout message',
  sweep: 'by the sweep, because no message closed it',
  settle: 'by the settler, once the provider had said that no money would come',
  operator: 'by hand',
};

/** Of an order that waited for its payment, and closed without a word of the provider. */
const graceClosers: Partial<typeof closers> = {
  sweep: 'when its grace was over',
  settle: 'by the settler',
};

function explainClosed(
  explained: ExplainedOrder,
  last: TimelineTransition | undefined,
  words: ExplanationWords,
): string[] {
  const { timeline } = explained;
  const { order, actions, attempts, payments } = timeline;
  if (!last) return ['It closed because it was not paid in time.'];
  const undecided = explainUndecidedClose(explained, last, words);
  // An order that was held for its payment outlived its message: nothing was lost. Nor had the settler an answer.
  const wasHeld = undecided.length > 0;
  const closer = last.cause as keyof typeof closers;
  const how = (wasHeld && graceClosers[closer]) || (closers[closer] ?? `by ${last.cause}`);
  const lateMs = last.at.getTime() - order.expiresAt.getTime();
  const says = [
    `It was not paid by its deadline of ${words.time(order.expiresAt)}, and closed ${lateMs} ms later, at ${words.time(last.at)}, ${how}.`,
    ...undecided,
  ];
  if (last.cause === 'sweep' && !wasHeld) says.push(whyNoMessage(timeline, words));
  const moved = actions.findLast(({ action }) => action === 'order.extend');
  if (moved) says.push(`Its deadline had been moved by ${moved.actor}: ${moved.reason}`);
  const byHand = actions.findLast(({ action }) => action === 'order.close');
  if (byHand) says.push(`${byHand.actor} closed it: ${byHand.reason}`);
  const cancelled = attempts.filter(({ state }) => state === 'CANCELLED').length;
  if (cancelled > 0) says.push(`Its buyer had begun to pay ${cancelled} times; no money came of it.`);
  if (attempts.length === 0 && payments.length === 0)
    says.push('Its buyer had not begun to pay through Lapse.');
  return says;
}

function whyNoMessage({ messages }: Timeline, { time }: ExplanationWords): string {
  const close = messages.findLast(({ phase }) => phase === 2);
  if (!close) {
    return 'No close message was ever written: the order was not reminded, because its reminder message did not come.';
  }
  if (!close.sentAt) {
    const why = close.lastError === null ? '' : `, the last one: ${close.lastError}`;
    return `Its close message was never sent: RocketMQ did not take it in ${close.attempts} tries${why}.`;
  }
  const sent = `sent at ${time(close.sentAt)} as ${close.messageId ?? 'an unknown message'}`;
  const due = close.deliverAt ? `, to be delivered at ${time(close.deliverAt)}` : '';
  return `Its close message was ${sent}${due}, and no closer handled it in time: it was lost, late, or no closer ran.`;
}
