import { queryDatabase } from '@lapse/testing';
import type { Pair } from './play-database-step.ts';

/** What a history leaves behind, as lines that can be compared: one a row, sorted. */
export async function readRealState(url: string, { activity }: Pair): Promise<Record<string, string[]>> {
  const rowsOf = (sql: string, values: readonly unknown[] = []) => queryDatabase(url, sql, values);
  const activities = await rowsOf(
    'SELECT available, generation, capacity, capacity_version FROM activity WHERE id = ?',
    [activity.id],
  );
  const orders = await rowsOf(
    `SELECT LOWER(HEX(id)) AS id, status, version, quantity, reminded_at IS NOT NULL AS reminded,
       paid_at IS NOT NULL AS paid, closed_at IS NOT NULL AS closed,
       settle_until IS NOT NULL AS settling, first_expires_at IS NOT NULL AS moved FROM orders`,
  );
  const transitions = await rowsOf(
    `SELECT LOWER(HEX(order_id)) AS id, version, from_status, to_status, cause, credit, debit FROM order_transition
     WHERE to_status <> 'ABORTED'`,
  );
  const effects = await rowsOf('SELECT kind, LOWER(HEX(order_ids)) AS ids FROM effect');
  const outbox = await rowsOf(
    'SELECT phase, order_count, sent_at IS NOT NULL AS sent, claimed_until IS NOT NULL AS claimed, attempts FROM message_outbox',
  );
  const notices = await rowsOf(
    `SELECT LOWER(HEX(order_id)) AS id, stage, state, attempts, claimed_until IS NOT NULL AS claimed
     FROM notification`,
  );
  const payments = await rowsOf(
    `SELECT SUBSTRING_INDEX(CONVERT(event_id USING utf8mb4), '~', 1) AS event, type, LOWER(HEX(order_id)) AS id, state,
       refund_id IS NOT NULL AS back, refund_tries AS tries FROM payment`,
  );
  const attempts = await rowsOf(
    'SELECT LOWER(HEX(order_id)) AS id, state, ended_at IS NOT NULL AS ended, tries FROM payment_attempt',
  );
  const closedNotices = effects.filter(({ kind }) => kind === 'closed_notice');
  return {
    activities: lines(activities),
    orders: lines(orders),
    transitions: lines(transitions),
    effects: lines(
      effects
        .filter(({ kind }) => kind !== 'closed_notice')
        .map((row) => ({ ...row, ids: splitIds(row.ids) })),
    ),
    outbox: lines(outbox),
    // The notice of a close is an effect first, and becomes a notice when somebody looks.
    closedBatches: closedNotices.map(({ ids }) => splitIds(ids).join()).sort(),
    notices: lines(notices),
    payments: lines(payments),
    attempts: lines(attempts),
  };
}

export function readModelState({ model, activity }: Pair): Record<string, string[]> {
  const { tables } = model;
  const own = tables.activities.get(activity.id);
  return {
    activities: lines([
      {
        ...{ available: own?.available, generation: own?.generation },
        ...{ capacity: own?.capacity, capacity_version: own?.capacityVersion },
      },
    ]),
    orders: lines(
      [...tables.orders.values()].map((row) => ({
        ...{ id: hex(row.id), status: row.status, version: row.version, quantity: row.quantity },
        ...{ reminded: flag(row.remindedAt), paid: flag(row.paidAt), closed: flag(row.closedAt) },
        ...{ settling: flag(row.settleUntil), moved: flag(row.firstExpiresAt) },
      })),
    ),
    transitions: lines(
      tables.transitions.map(({ orderId, version, from, to, cause, credit, debit }) => {
        return { id: hex(orderId), version, from_status: from, to_status: to, cause, credit, debit };
      }),
    ),
    effects: lines(
      [...tables.effects.values()].map(({ effect: { kind, orderIds } }) => ({
        kind,
        ids: orderIds.map(hex).sort(),
      })),
    ),
    outbox: lines(
      [...tables.outbox.values()].map((row) => ({
        ...{ phase: row.phase, order_count: row.orders.length, sent: flag(row.sentAtMs) },
        ...{ claimed: flag(row.claimedUntilMs), attempts: row.attempts },
      })),
    ),
    closedBatches: [...tables.closedBatches.values()].map((ids) => ids.map(hex).sort().join()).sort(),
    notices: lines(
      tables.notices.map(({ orderId, stage, state, attempts, claimedUntilMs }) => {
        return { id: hex(orderId), stage, state, attempts, claimed: flag(claimedUntilMs) };
      }),
    ),
    payments: lines(
      tables.payments.map(({ event, state, refundId, refundTries }) => {
        const { eventId, type, orderId } = event;
        return { event: eventId, type, id: hex(orderId), state, back: flag(refundId), tries: refundTries };
      }),
    ),
    attempts: lines(
      [...tables.attempts.values()].map(({ orderId, state, endedAt, tries }) => {
        return { id: hex(orderId), state, ended: flag(endedAt), tries };
      }),
    ),
  };
}

function lines(rows: readonly object[]): string[] {
  return rows.map((row) => JSON.stringify(row)).sort();
}

function hex(id: string): string {
  return id.replaceAll('-', '');
}

function flag(value: unknown): number {
  return value === null ? 0 : 1;
}

const hexPerId = 32;

function splitIds(packed: unknown): string[] {
  const text = String(packed);
  return Array.from({ length: text.length / hexPerId }, (_, at) =>
    text.slice(at * hexPerId, (at + 1) * hexPerId),
  ).sort();
}
