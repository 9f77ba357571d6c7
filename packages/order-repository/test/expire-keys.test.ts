import { v7 } from 'uuid';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Activity, NewOrder } from '../src/index.ts';
import { createActivity, type Fixture, newOrder, openFixture } from './fixture.ts';

let fixture: Fixture;
let activity: Activity;
beforeAll(async () => {
  fixture = await openFixture();
  activity = await createActivity(fixture.repository, { capacity: 10_000 });
});
afterAll(() => fixture?.close());

const hourMs = 3_600_000;

/** An order placed so long ago; the id's own time may differ, as when the process's clock was wrong. */
function oldOrder(ageMs: number, idAgeMs = ageMs): NewOrder {
  const createdAt = new Date(Date.now() - ageMs);
  return newOrder(activity, { id: v7({ msecs: Date.now() - idAgeMs }), createdAt });
}
async function place(...orders: NewOrder[]): Promise<void> {
  const { results } = await fixture.repository.createOrders(orders);
  expect(results.map(({ kind }) => kind)).toEqual(orders.map(() => 'created'));
}
const hasKey = async (order: NewOrder) =>
  (await fixture.repository.findOrdersByKey([order]))[0]?.id === order.id;
async function expireAll(limit = 100): Promise<number> {
  let orders = 0;
  for (;;) {
    const expired = await fixture.repository.expireKeys({ limit });
    orders += expired.orders;
    if (expired.drained) return orders;
  }
}

it('a key older than 24 hours is free again, a younger one is not, in batches and once', async () => {
  const old = Array.from({ length: 25 }, (_, index) => oldOrder(25 * hourMs + index * 1_000));
  const young = oldOrder(24 * hourMs - 60_000);
  await place(...old, young);
  expect(await expireAll(10)).toBe(25);
  for (const order of old) expect(await hasKey(order)).toBe(false);
  expect(await hasKey(young)).toBe(true);
  expect(await expireAll(10)).toBe(0);
});

it('the same key then makes another order of the same buyer', async () => {
  const first = oldOrder(25 * hourMs);
  await place(first);
  await fixture.repository.cancelOrder(first.id, first.userId);
  const again = newOrder(activity, { userId: first.userId, idempotencyKey: first.idempotencyKey });
  const { results } = await fixture.repository.createOrders([again]);
  expect(results[0]).toMatchObject({ kind: 'same_key', order: { id: first.id } });
  await expireAll();
  expect((await fixture.repository.createOrders([again])).results).toEqual([{ kind: 'created' }]);
});

it('an id made by a slow clock is waited for, never let go early and never passed over', async () => {
  // Its id says 26 hours, MySQL says 23: the walk stops before it.
  const slow = oldOrder(23 * hourMs, 24.5 * hourMs);
  const behind = oldOrder(24.2 * hourMs);
  await place(slow, behind);
  await expireAll();
  expect(await hasKey(slow)).toBe(true);
  await fixture.query('UPDATE orders SET created_at = NOW(3) - INTERVAL 25 HOUR WHERE id = ?', [
    Buffer.from(slow.id.replaceAll('-', ''), 'hex'),
  ]);
  await expireAll();
  expect([await hasKey(slow), await hasKey(behind)]).toEqual([false, false]);
});

it('a walk that is interrupted goes on where it stopped, without reading the past again', async () => {
  const [before] = await fixture.query("SELECT HEX(place) AS place FROM job_place WHERE job = 'expire-keys'");
  const next = oldOrder(24.1 * hourMs);
  await place(next);
  const other = await fixture.openAnother();
  await Promise.all([other.expireKeys({ limit: 5 }), fixture.repository.expireKeys({ limit: 5 })]);
  const [after] = await fixture.query("SELECT HEX(place) AS place FROM job_place WHERE job = 'expire-keys'");
  expect(String(after?.place) > String(before?.place)).toBe(true);
  expect(await hasKey(next)).toBe(false);
  const plan = await fixture.query(
    'EXPLAIN SELECT id FROM orders FORCE INDEX (PRIMARY) WHERE id > UNHEX(?) ORDER BY id LIMIT 5',
    [after?.place],
  );
  expect(plan[0]).toMatchObject({ type: 'range', key: 'PRIMARY' });
});

it("operators' answers go after 24 hours as well", async () => {
  const keep = { actor: 'boss', reason: 'x', idempotency: { key: 'k', requestHash: Buffer.alloc(32) } };
  const answer = () => ({ status: 200, body: Buffer.from('first') });
  const change = () => fixture.repository.changeCapacity(activity.id, 10_001, keep, answer);
  expect((await change()).kind).toBe('done');
  await fixture.query('UPDATE idempotency_key SET created_at = NOW(3) - INTERVAL 1439 MINUTE');
  await expireAll();
  expect((await change()).kind).toBe('replayed');
  await fixture.query('UPDATE idempotency_key SET created_at = NOW(3) - INTERVAL 1441 MINUTE');
  await expireAll();
  expect((await change()).kind).toBe('done');
});

it('an order that MySQL refuses to change keeps its key, and the walk goes on behind it', async () => {
  const old = Array.from({ length: 20 }, (_, index) => oldOrder(24.05 * hourMs - index * 1_000));
  await place(...old);
  const [bad] = old.slice(7);
  await fixture.query(
    `CREATE TRIGGER refuse BEFORE UPDATE ON orders FOR EACH ROW
     IF NEW.id = UNHEX('${bad?.id.replaceAll('-', '')}') THEN SIGNAL SQLSTATE '45000'; END IF`,
  );
  fixture.logged.length = 0;
  expect(await expireAll(10)).toBe(19);
  const kept: NewOrder[] = [];
  for (const order of old) if (await hasKey(order)) kept.push(order);
  expect(kept).toEqual([bad]);
  expect(fixture.logged.filter(({ level }) => level === 'error')).toHaveLength(1);
  await fixture.query('DROP TRIGGER refuse');
});
