import {
  dismissOutcomes,
  effectOutcomes,
  findingList,
  leftEffectList,
  parkedList,
  parkedOutcomes,
  parkedView,
  refundList,
  refundOutcomes,
  refundPaidByHandView,
  resendOutcomes,
  undeliveredList,
} from '@lapse/contracts';
import type { Activity } from '@lapse/order-repository';
import { openActivity, openShop, placeOrders, type Shop } from '@lapse/test-shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeShape, notFoundShape } from '../src/shapes/change.ts';
import { applied, type Cli, envOf, openCli } from './cli.ts';

let shop: Shop;
let cli: Cli;
let activity: Activity;
beforeAll(async () => {
  shop = await openShop({ shopEvents: true });
  cli = openCli(envOf(shop));
  activity = await openActivity(shop, 50);
});
afterAll(() => shop?.close());

const ahead = { remindInMs: 60_000, expireInMs: 120_000 };
const hex = (id: string): string => id.replaceAll('-', '');
async function place(): Promise<string> {
  return (await placeOrders(shop, activity, 1, ahead)).ids[0] ?? '';
}
const numberOf = async (sql: string, ...values: unknown[]): Promise<number> =>
  Number((await shop.query(sql, values))[0]?.id);

async function park(body: string | Buffer = 'not JSON'): Promise<number> {
  const messageId = `m-${Math.random()}`;
  await shop.orders.parkMessage({ messageId, phase: 2, reason: 'cannot be read', body: Buffer.from(body) });
  return numberOf('SELECT id FROM parked WHERE ref = ?', messageId);
}

/** A payment that the order cannot take: of another amount, so set aside. */
async function payWrong(orderId: string): Promise<number> {
  const event = { eventId: `e-${orderId}`, type: 'payment.captured', paymentId: `p-${orderId}` } as const;
  await shop.orders.recordPayment({
    ...event,
    orderId,
    amountMinor: 1,
    currency: 'CNY',
    occurredAt: new Date(),
  });
  return numberOf('SELECT id FROM payment WHERE HEX(order_id) = ?', hex(orderId));
}

describe('parked', () => {
  test('list and show say what was set aside, and why', async () => {
    const id = await park();
    const listed = await cli.json(parkedList, 'parked', 'list');
    expect(listed.data.parked.find((row) => row.id === id)).toMatchObject({
      reason: 'cannot be read',
      phase: 2,
    });
    const shown = await cli.json(parkedView, 'parked', 'show', `${id}`);
    expect(shown.data).toMatchObject({ id, state: 'PARKED', body: 'not JSON' });
    const absent = await cli.json(notFoundShape, 'parked', 'show', '999999');
    expect([absent.code, absent.data.outcome]).toEqual([1, 'not_found']);
  });

  test('a row that cannot be redriven is told: exit code 1; dropped it is done with, by name and reason', async () => {
    const id = `${await park()}`;
    const redriven = await cli.json(parkedOutcomes, 'parked', 'redrive', id, ...applied);
    expect([redriven.code, redriven.data.outcomes[0]?.kind]).toEqual([1, 'unreadable']);
    const dry = await cli.json(parkedOutcomes, 'parked', 'drop', id);
    expect([dry.code, dry.data]).toMatchObject([
      0,
      { dryRun: true, outcomes: [{ kind: 'dropped', changed: false }] },
    ]);
    const dropped = await cli.json(parkedOutcomes, 'parked', 'drop', id, ...applied);
    expect([dropped.code, dropped.data.outcomes[0]]).toMatchObject([0, { kind: 'dropped', changed: true }]);
    const shown = await cli.json(parkedView, 'parked', 'show', id);
    expect(shown.data).toMatchObject({ state: 'DROPPED', settledBy: 'boss', settledReason: 'of the test' });
  });

  test('escape sequences in what came from outside do not reach the terminal', async () => {
    const id = await park('\u001b[2J\u001b[31mred');
    const { out } = await cli.run('parked', 'show', `${id}`);
    expect(out).toContain('body     red');
    expect(out).not.toContain('\u001b');
  });
});

test('undelivered: what was given up is listed, and sent again once asked', async () => {
  const orderId = await place();
  await shop.query(
    `INSERT INTO notification (order_id, stage, state, attempts, next_attempt_at, created_at, last_error)
     VALUES (UNHEX(?), 'REMINDER', 'PARKED', 10, NOW(3), NOW(3), '410 Gone')`,
    [hex(orderId)],
  );
  const { data } = await cli.json(undeliveredList, 'undelivered', 'list');
  expect(data.undelivered).toMatchObject([{ orderId, what: 'REMINDER', lastError: '410 Gone' }]);
  const id = `${data.undelivered[0]?.id}`;
  const resent = await cli.json(resendOutcomes, 'undelivered', 'resend', id, ...applied);
  expect([resent.code, resent.data.outcomes]).toMatchObject([0, [{ kind: 'resent', changed: true }]]);
  expect((await cli.json(undeliveredList, 'undelivered', 'list')).data.undelivered).toEqual([]);
  expect((await cli.run('undelivered', 'list', '--kind', 'letter')).code).toBe(2);
});

test('effects: a notice that could not be written is listed and tried again', async () => {
  const id = await place();
  await shop.orders.cancelOrder(id, `buyer ${id}`);
  await shop.query("UPDATE effect SET attempts = 20 WHERE kind = 'shop_event'");
  const { data } = await cli.json(leftEffectList, 'effects', 'list');
  const [effect] = data.effects;
  const redriven = await cli.json(effectOutcomes, 'effects', 'redrive', effect?.id ?? '', ...applied);
  expect([redriven.code, redriven.data.outcomes]).toMatchObject([0, [{ kind: 'redriven', changed: true }]]);
});

describe('money', () => {
  test('quarantined: listed, then paid back on request; a second request changes nothing', async () => {
    const orderId = await place();
    const row = `${await payWrong(orderId)}`;
    const listed = await cli.json(refundList, 'payments', 'quarantined', 'list');
    expect(listed.data.refunds).toMatchObject([{ id: Number(row), orderId, state: 'QUARANTINED' }]);
    const paid = await cli.json(refundOutcomes, 'payments', 'quarantined', 'refund', row, ...applied);
    expect([paid.code, paid.data.outcomes[0]]).toMatchObject([0, { kind: 'refund_due', amountMinor: 1 }]);
    const again = await cli.json(refundOutcomes, 'payments', 'quarantined', 'refund', row, ...applied);
    expect([again.code, again.data.outcomes[0]?.kind]).toEqual([1, 'not_refundable']);
  });

  test('quarantined and no money after all: dismissed', async () => {
    const row = `${await payWrong(await place())}`;
    const dismissed = await cli.json(dismissOutcomes, 'payments', 'quarantined', 'dismiss', row, ...applied);
    expect([dismissed.code, dismissed.data.outcomes[0]?.kind]).toEqual([0, 'dismissed']);
  });

  test('a refund that failed at the provider is ordered anew, or noted as paid by hand', async () => {
    const orderId = await place();
    const id = await payWrong(orderId);
    await cli.run('refunds', 'retry', `${id}`, ...applied);
    await shop.query("UPDATE payment SET state = 'REFUND_FAILED', refund_failed_at = NOW(3) WHERE id = ?", [
      id,
    ]);
    const failed = await cli.json(refundList, 'refunds', 'list', '--state', 'REFUND_FAILED');
    expect(failed.data.refunds.map((refund) => refund.id)).toEqual([id]);
    const retried = await cli.json(refundOutcomes, 'refunds', 'retry', `${id}`, ...applied);
    expect([retried.code, retried.data.outcomes[0]?.kind]).toEqual([0, 'refund_due']);
    const paid = await cli.json(changeShape, 'refunds', 'paid', `${id}`, '--reference', 'TR-1', ...applied);
    expect(refundPaidByHandView.parse(paid.data.result)).toMatchObject({ id, refundRef: 'by-hand:TR-1' });
    expect((await cli.run('explain', 'order', orderId)).out).toContain('Nothing is owed.');
  });
});

test('refunds list: in the state that is looked at first, where the finished ones are; a state in either case', async () => {
  await shop.query("UPDATE payment SET state = 'DISMISSED' WHERE state = 'REFUND_PENDING'");
  expect((await cli.run('refunds', 'list')).out).toContain('lapse refunds list --state REFUNDED');
  const lower = await cli.run('refunds', 'list', '--state', 'refund_failed');
  expect([lower.code, lower.out]).toEqual([0, 'no payment is REFUND_FAILED\n']);
  expect((await cli.run('refunds', 'list', '--state', 'gone')).code).toBe(2);
});

test('findings: newest first', async () => {
  await shop.orders.recordFindings([
    { activityId: activity.id, kind: 'counter_off', action: 'rebuild', detail: { count: 1 } },
  ]);
  const { code, data } = await cli.json(findingList, 'findings');
  expect([code, data.findings[0]]).toMatchObject([0, { kind: 'counter_off', healedAt: null }]);
});
