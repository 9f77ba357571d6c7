import type { NoticeJob } from '@lapse/order-repository';
import type { AtOnce, Ledger } from './model-ledger.ts';
import { type NoticeRow, toOrder } from './model-rows.ts';

type Operations = AtOnce<'claimNotifications' | 'expandClosedNotices' | 'finishNotifications' | 'readOrder'>;

/** What buyers are told: from "these orders closed" to one notice an order, and on to its delivery. */
export function delivery(ledger: Ledger): Operations {
  const { tables, now, activityOf } = ledger;
  const { orders, notices, closedBatches } = tables;

  function toJob({ id, stage, orderId, attempts, attemptsBefore }: NoticeRow): NoticeJob[] {
    const order = orders.get(orderId);
    if (!order) return [];
    const { activityId, userId, locale, quantity, amountMinor, currency, status, expiresAt } = order;
    const activityName = activityOf(activityId).name;
    return [
      {
        ...{ id, stage, orderId, activityId, activityName, userId, locale, quantity, amountMinor, currency },
        ...{ status, expiresAt, attempts, tries: attempts - attemptsBefore },
      },
    ];
  }

  return {
    expandClosedNotices: (limit) => {
      const batches = [...closedBatches].slice(0, limit);
      for (const [id, orderIds] of batches) {
        for (const orderId of orderIds) ledger.addNotice(orderId, 'CLOSED');
        closedBatches.delete(id);
      }
      return batches.length;
    },
    claimNotifications: ({ limit, leaseMs }) => {
      const urgency = ({ stage }: NoticeRow): number => (stage === 'REMINDER' ? 0 : 1);
      const due = notices
        .filter(({ state, nextAttemptMs }) => state === 'WAITING' && nextAttemptMs <= now())
        .filter(({ claimedUntilMs }) => claimedUntilMs === null || claimedUntilMs <= now())
        .sort((a, b) => urgency(a) - urgency(b) || a.nextAttemptMs - b.nextAttemptMs || a.id - b.id)
        .slice(0, limit);
      for (const row of due) {
        row.claimedUntilMs = now() + leaseMs;
        row.attempts += 1;
      }
      return due.flatMap(toJob);
    },
    finishNotifications: (finished) => {
      for (const { claim, outcome } of finished) {
        const row = notices[claim.id - 1];
        if (row?.attempts !== claim.attempts || row.state !== 'WAITING') continue;
        Object.assign(row, { state: outcome.state, claimedUntilMs: null });
        if (outcome.state !== 'WAITING') continue;
        row.nextAttemptMs = now() + Math.ceil(outcome.retryInMs);
        if (outcome.untried) row.attemptsBefore += 1;
      }
    },
    readOrder: (id) => {
      const order = orders.get(id);
      return order && toOrder(order);
    },
  };
}
