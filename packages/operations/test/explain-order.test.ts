import type { Timeline } from '@lapse/order-repository';
import { describe, expect, test } from 'vitest';
import { explainOrder } from '../src/index.ts';
import { aTimeline, attempt, closedBy, payment, words } from './a-timeline.ts';

const held = { kind: 'hold', hold: aTimeline.hold } as const;
const nowMs = Date.parse('2030-01-01T00:05:00.000Z');

type Explained = Parameters<typeof explainOrder>[0];
const sale = { paymentGraceMs: 30_000, latePaymentPolicy: 'refund' } as const;

function explain(
  change: Partial<Timeline> = {},
  hold: Explained['hold'] = held,
  known: Partial<Explained> = {},
) {
  const timeline = { ...aTimeline.timeline, ...change };
  const explanation = explainOrder({ timeline, hold, nowMs, sale, ...known }, words);
  const about = (topic: string): string =>
    explanation.answers
      .filter((answer) => answer.about === topic)
      .map(({ says }) => says)
      .join(' ');
  return { ...explanation, about };
}
const gone = { kind: 'none' } as const;

describe('why', () => {
  test('pending: how long it has, and that its place is held in both stores', () => {
    const order = explain();
    expect(order.about('state')).toBe(
      'It is unpaid and pending. It closes in 10 min, at 2030-01-01T00:15:00.000Z.',
    );
    expect(order.about('places')).toBe(
      'It holds 1 place in MySQL. Redis has it as held, 1 place, as it should be.',
    );
    expect(order.about('buyer')).toBe('The buyer is to be reminded at 2030-01-01T00:10:00.000Z.');
    expect(order.about('money')).toBe('No payment came (5000 CNY was asked). Nothing is owed.');
    expect(order.about('shop')).toBe('');
    expect(order.todo).toEqual([]);
  });

  test('closed by its message: how late, to the millisecond', () => {
    expect(explain(closedBy('message', 7), gone).about('state')).toBe(
      'It was not paid by its deadline of 2030-01-01T00:15:00.000Z, and closed 7 ms later, at 2030-01-01T00:15:00.007Z, by its timeout message. Its buyer had not begun to pay through Lapse.',
    );
  });

  test('closed by the sweep: what became of the message', () => {
    const sent = aTimeline.closeMessage;
    expect(explain({ ...closedBy('sweep', 16_000), messages: [sent] }, gone).about('state')).toContain(
      'no closer handled it in time: it was lost, late, or no closer ran.',
    );
    const unsent = { ...sent, sentAt: null, messageId: null, attempts: 4, lastError: 'no broker' };
    expect(explain({ ...closedBy('sweep', 16_000), messages: [unsent] }, gone).about('state')).toContain(
      'RocketMQ did not take it in 4 tries, the last one: no broker.',
    );
    expect(explain(closedBy('sweep', 16_000), gone).about('state')).toContain('was not reminded');
  });

  test('closed by hand, and cancelled by hand: by whom, and why in their words', () => {
    const action = { at: new Date(nowMs), actor: 'boss', reason: 'no worker runs', detail: {} };
    const actions = [{ ...action, action: 'order.close' }];
    expect(explain({ ...closedBy('operator', 90), actions }, gone).about('state')).toContain(
      'boss closed it: no worker runs',
    );
    const cancelled = closedBy('operator', 90, 'CANCELLED');
    expect(
      explain({ ...cancelled, actions: [{ ...action, action: 'order.cancel' }] }, gone).about('state'),
    ).toContain('boss cancelled it by hand at 2030-01-01T00:15:00.090Z: no worker runs.');
  });

  test('set aside: the reason, and the command that puts it back to work', () => {
    const parked = [{ id: 12, reason: 'Out of range', createdAt: new Date(nowMs) }];
    const order = explain({ parked });
    expect(order.about('state')).toContain('Out of range. It waits for a person.');
    const ended = explain({ ...closedBy('message', 7), parked }, gone);
    expect(ended.about('state')).toContain('Out of range. It has ended since');
    expect(ended.todo).toEqual(['Take it off the list: lapse parked drop 12 --reason TEXT --apply']);
    expect(order.todo).toEqual(['Once the cause is gone: lapse parked redrive 12 --reason TEXT --apply']);
  });
});

describe('a payment under way', () => {
  const began =
    'Its buyer began to pay at 2030-01-01T00:14:55.000Z (attempt a1 at simulator), and the provider';

  test('pending: since when, that the provider has not decided, and until when the order waits for it', () => {
    const order = explain({ attempts: [attempt()] });
    expect(order.about('state')).toContain(
      `${began} has not decided. The order waits for it until 2030-01-01T00:15:30.000Z, its deadline and the grace of 30 s, at most.`,
    );
    expect(order.about('money')).toBe(
      'No payment has come yet (5000 CNY was asked). Nothing is owed. The provider has not decided on the payment under way.',
    );
    expect(order.attempts).toMatchObject([
      { attemptId: 'a1', state: 'OPEN', beganAt: '2030-01-01T00:14:55.000Z', endedAt: null },
    ]);
  });

  test('past the deadline the order waits for it, and no message of it is said to be missing', () => {
    const order = explain({ attempts: [attempt()] }, held, { nowMs: Date.parse('2030-01-01T00:15:10.000Z') });
    expect(order.about('state')).toContain('past its deadline');
    expect(order.about('state')).toContain('The order waits for it until 2030-01-01T00:15:30.000Z');
    expect(order.about('state')).not.toContain('message');
  });

  test('closed after its grace: that this is why, that money may still come, and what becomes of it', () => {
    const closed = { ...closedBy('sweep', 30_004), attempts: [attempt()] };
    const order = explain(closed, gone);
    expect(order.about('state')).toContain(
      `${began} had not decided when the grace of 30 s ended: so it closed.`,
    );
    expect(order.about('state')).not.toContain('message');
    expect(order.about('money')).toContain('it is then paid back (policy refund of its activity).');
    const kept = { ...sale, latePaymentPolicy: 'reacquire' } as const;
    expect(explain(closed, gone, { sale: kept }).about('money')).toContain('takes free places again');
  });

  test('closed by the settler after its grace: not said that the provider had told of no money', () => {
    const undecided = explain({ ...closedBy('settle', 30_004), attempts: [attempt()] }, gone).about('state');
    expect(undecided).toContain('by the settler.');
    expect(undecided).toContain('had not decided when the grace of 30 s ended: so it closed.');
    const endedAt = new Date('2030-01-01T00:15:00.500Z');
    const cancelled = attempt({ state: 'CANCELLED', endedAt });
    const decided = explain({ ...closedBy('settle', 600), attempts: [cancelled] }, gone).about('state');
    expect(decided).toContain('by the settler, once the provider had said that no money would come.');
    expect(decided).not.toContain('had not decided');
  });

  test('closed by hand after its grace: not said that the end of the grace closed it', () => {
    const state = explain({ ...closedBy('operator', 90_000), attempts: [attempt()] }, gone).about('state');
    expect(state).toContain('by hand. Its buyer began to pay');
    expect(state).toContain('had not decided when it closed.');
  });

  test('still pending after its grace: that it is over, and what closes the order', () => {
    const nowMs = Date.parse('2030-01-01T00:25:00.000Z');
    const state = explain({ attempts: [attempt()] }, held, { nowMs }).about('state');
    expect(state).toContain(
      'The order waited for it until 2030-01-01T00:15:30.000Z, its deadline and the grace',
    );
    expect(state).toContain('The settler or the sweep closes it.');
    expect(state).not.toContain('waits for it');
  });

  test('the reason stays once the money has come; an attempt that ended before the close is none', () => {
    const closed = closedBy('sweep', 30_004);
    const endedAt = new Date('2030-01-01T00:16:00.000Z');
    const after = explain({ ...closed, attempts: [attempt({ state: 'CAPTURED', endedAt })] }, gone);
    expect(after.about('state')).toContain('had not decided when the grace of 30 s ended');
    expect(after.about('money')).not.toContain('may still come');
    const before = attempt({ state: 'CANCELLED', endedAt: new Date('2030-01-01T00:15:00.000Z') });
    expect(explain({ ...closed, attempts: [before] }, gone).about('state')).not.toContain('had not decided');
  });
});

describe('money made in time and heard of too late', () => {
  const closed = closedBy('message', 7);
  const occurredAt = new Date('2030-01-01T00:14:59.991Z');

  test('says both, and not beside it that the buyer had not begun to pay', () => {
    const receivedAt = new Date('2030-01-01T00:15:00.047Z');
    const late = explain(
      { ...closed, payments: [payment({ state: 'REFUND_PENDING', occurredAt, receivedAt })] },
      gone,
    );
    expect(late.about('money')).toContain('9 ms before the deadline, but heard of 40 ms after the close,');
    expect(late.about('state')).not.toContain('had not begun to pay');
  });

  test('nothing of it where the money was heard of before the close', () => {
    const paid = { ...aTimeline.timeline, payments: [payment({ occurredAt, receivedAt: occurredAt })] };
    expect(explain(paid).about('money')).not.toContain('before the deadline');
  });
});

describe('where its places are', () => {
  test('a hold that is left of a closed order is drift, and said to be', () => {
    const order = explain(closedBy('message', 7));
    expect(order.about('places')).toContain('which does not fit: it has drifted from MySQL.');
    expect(order.todo[0]).toContain('lapse audit --activity 7 --heal');
  });

  test('is not drift while Redis has still to be told', () => {
    const pendingEffects = [{ id: 'e', kind: 'release', createdAt: new Date(nowMs), attempts: 2 }] as const;
    const order = explain({ ...closedBy('message', 7), pendingEffects });
    expect(order.about('places')).toContain('Redis has it as held, 1 place, until then.');
    expect(order.about('places')).toContain(
      'Redis has still to be told that the places are free (effect e, 2 tries)',
    );
    expect(order.todo).toEqual([]);
  });

  test('of a sale that is archived nothing is drift, and no audit is sent for, whatever Redis has left', () => {
    const saleArchivedAt = new Date(nowMs);
    const paid = { order: { ...aTimeline.timeline.order, status: 'PAID' } } as const;
    expect(explain(paid, gone).todo[0]).toContain('lapse audit --activity 7 --heal');
    const forgotten = explain({ ...paid, saleArchivedAt }, gone);
    expect(forgotten.about('places')).toBe(
      '1 place is its own: sold. Redis holds nothing for it: its sale is archived, and Redis forgets it.',
    );
    expect(forgotten.todo).toEqual([]);
    expect(explain({ ...closedBy('message', 7), saleArchivedAt }).todo).toEqual([]);
  });

  test('nothing is claimed of a Redis that does not answer', () => {
    const order = explain({}, null);
    expect(order.about('places')).toContain('Redis did not answer');
    expect(order.todo).toEqual([]);
  });
});

describe('who was told, and what is owed', () => {
  test('why there was no reminder: the order ended before it, or nothing came of it', () => {
    const cancelledAt = new Date('2030-01-01T00:09:00.000Z');
    const early = closedBy('buyer', 0, 'CANCELLED');
    const cancelled = explain({ ...early, order: { ...early.order, closedAt: cancelledAt } }, gone);
    expect(cancelled.about('buyer')).toContain('the order ended before its reminder');
    expect(explain(closedBy('sweep', 16_000), gone).about('buyer')).toContain(
      'nothing had come of the reminder',
    );
  });

  test('a notice that was given up: not delivered, why, and how it is sent again', () => {
    const notice = { ...aTimeline.notice, state: 'PARKED', attempts: 10, lastError: '410 Gone' } as const;
    const order = explain({ ...closedBy('message', 7), notifications: [notice] }, gone);
    expect(order.about('buyer')).toContain(
      'The buyer did NOT get the notice that the order closed: it was given up after 10 tries. The last answer: 410 Gone',
    );
    expect(order.todo).toEqual([
      'Once the channel works: lapse undelivered resend 3 --kind notification --reason TEXT --apply',
    ]);
  });

  test('a payment after the close is owed until it went back', () => {
    const closed = closedBy('message', 7);
    const due = explain({ ...closed, payments: [payment({ state: 'REFUND_PENDING' })] }, gone);
    expect(due.about('money')).toContain('Owed to the buyer: 5000 CNY.');
    const failed = explain({ ...closed, payments: [payment({ state: 'REFUND_FAILED' })] }, gone);
    expect(failed.about('money')).toContain('FAILED at the provider');
    expect(failed.todo[0]).toContain('lapse refunds retry 31');
    const refundedAt = new Date(nowMs);
    const occurredAt = new Date(closed.order.expiresAt.getTime() + 1_058);
    const back = explain(
      { ...closed, payments: [payment({ state: 'REFUNDED', refundedAt, refundRef: 're_1', occurredAt })] },
      gone,
    );
    expect(back.about('money')).toContain('1.1 s after the deadline');
    expect(back.about('money')).toContain('the provider took its refund re_1 at');
    expect(back.about('buyer')).toContain('Lapse sends no notice that money');
    expect(back.about('money')).toContain('Nothing is owed.');
    expect(back.todo).toEqual([]);
    const open = explain({ ...closed, payments: [payment({ state: 'QUARANTINED' })] }, gone);
    expect(open.about('money')).toContain('Whether 5000 CNY is owed is not decided yet.');
    expect(open.about('money')).not.toContain('Nothing is owed');
  });

  test('how a notice went: the channel where it is set, and never that a line of a log reached the buyer', () => {
    const told = { ...closedBy('message', 7), notifications: [aTimeline.notice] };
    const about = (noticeChannel?: string) => explain(told, gone, { noticeChannel }).about('buyer');
    expect(about()).toContain('was handed to the notification channel at 2030-01-01T00:15:00.000Z.');
    expect(about('smtp')).toContain('(LAPSE_NOTIFY_CHANNEL=smtp) at');
    expect(about('log')).toContain('(LAPSE_NOTIFY_CHANNEL=log, which writes a line and sends nothing) at');
    // It may have been another one then.
    expect(about('log')).not.toContain('not sent');
  });

  test("an event that the shop's system did not take", () => {
    const event = { ...aTimeline.notice, type: 'closed', state: 'PARKED', lastError: null } as const;
    const order = explain({ ...closedBy('message', 7), shopEvents: [event] }, gone);
    expect(order.about('shop')).toContain('did NOT take order.closed');
    expect(order.todo).toEqual([
      "Once the shop's system works: lapse undelivered resend 3 --kind shop_event --reason TEXT --apply",
    ]);
  });
});
