import { afterAll, beforeAll, expect, it } from 'vitest';
import type { NewOrder } from '../src/index.ts';
import { captureOf, createActivity, type Fixture, newOrder, openFixture } from './fixture.ts';
import { bytesOf } from './old-sale.ts';

const limit = 3;
let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture?.close());

const giveUp = () => fixture.repository.giveUpWaitingPayments({ olderThanMs: 600_000, limit });

/** Money that came before its orders, so many minutes ago. */
async function keepMoneyOf(orders: readonly NewOrder[], minutes: number): Promise<void> {
  for (const order of orders) {
    expect(await fixture.repository.recordPayment(captureOf(order))).toEqual({ outcome: 'kept' });
  }
  await fixture.query(
    `UPDATE payment SET received_at = NOW(3) - INTERVAL ${minutes} MINUTE WHERE order_id IN (?)`,
    [orders.map(({ id }) => bytesOf(id))],
  );
}

it('payments whose orders came, and which cannot be applied, keep no payment for an order that never came', async () => {
  const activity = await createActivity(fixture.repository);
  const there = Array.from({ length: limit }, () => newOrder(activity));
  const never = newOrder(activity);
  await keepMoneyOf(there, 90);
  await keepMoneyOf([never], 60);
  await fixture.repository.createOrders(there);
  expect(await giveUp()).toEqual([never.id]);
  expect(await giveUp()).toEqual([]);
});

it('an order that others have locked is there all the same: its money stays, and nobody waits', async () => {
  const order = newOrder(await createActivity(fixture.repository));
  await keepMoneyOf([order], 60);
  await fixture.repository.createOrders([order]);
  const lock = await fixture.lockOrder(order.id);
  const startedAt = performance.now();
  expect(await giveUp()).toEqual([]);
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  await lock.release();
  await fixture.query('DELETE FROM orders WHERE id = ?', [bytesOf(order.id)]);
  expect(await giveUp()).toEqual([order.id]);
});
