import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { PaymentAttempt } from '../src/index.ts';
import { createActivity, type Fixture, newOrder, openFixture } from './fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());
beforeEach(() => fixture.query('DELETE FROM payment_attempt'));

const provider = 'p';
async function begin(): Promise<PaymentAttempt> {
  const order = newOrder(await createActivity(fixture.repository));
  await fixture.repository.createOrders([order]);
  const opened = await fixture.repository.openAttempt({ orderId: order.id, userId: order.userId, provider });
  if (opened.kind !== 'open') throw new Error(opened.kind);
  return opened.attempt;
}
const open = ({ id }: PaymentAttempt) =>
  fixture.repository.markAttemptOpen(id, { providerRef: `ref-${id}`, payUrl: null, clientSecret: null });
const bytesOf = (id: string) => Buffer.from(id.replaceAll('-', ''), 'hex');
const settleUntil = async ({ orderId }: PaymentAttempt) =>
  (await fixture.query('SELECT settle_until FROM orders WHERE id = ?', [bytesOf(orderId)]))[0]?.settle_until;

test('of two that begin one attempt, the one that is refused does not end what the other has opened', async () => {
  const attempt = await begin();
  await open(attempt);
  expect(await fixture.repository.endAttempt(attempt.id, 'FAILED', 'a stray 404')).toBe(false);
  const again = await open(attempt);
  expect(again).toMatchObject({ state: 'OPEN', providerRef: `ref-${attempt.id}`, lastError: null });
  expect(await settleUntil(attempt)).toEqual(expect.any(Date));
  // Cancelled at the provider it ends, as does one that was refused before anybody opened it.
  expect(await fixture.repository.endAttempt(attempt.id, 'CANCELLED')).toBe(true);
  const refused = await begin();
  expect(await fixture.repository.endAttempt(refused.id, 'FAILED', 'no')).toBe(true);
  expect(await settleUntil(refused)).toBeNull();
});

test('attempts due now are claimed before all that were asked about already, however many and old those are', async () => {
  const old: string[] = [];
  for (let count = 0; count < 6; count += 1) old.push((await begin()).id);
  await fixture.query(
    `UPDATE payment_attempt SET state = 'OPEN', tries = 9, settle_at = NOW(3) - INTERVAL 2 DAY,
       claimed_until = NOW(3)`,
  );
  const [first, second, creating] = [await begin(), await begin(), await begin()];
  for (const attempt of [first, second]) await open(attempt);
  const dueIn = (attempt: PaymentAttempt, ms: number) =>
    fixture.query('UPDATE payment_attempt SET settle_at = NOW(3) + INTERVAL ? MICROSECOND WHERE id = ?', [
      ms * 1_000,
      bytesOf(attempt.id),
    ]);
  await dueIn(first, -3_000);
  await dueIn(second, -1_000);
  await dueIn(creating, -2_000);
  const claim = async (limit: number) =>
    (await fixture.repository.claimDueAttempts({ provider, limit, leaseMs: 60_000 })).map(({ id }) => id);
  expect(await claim(2)).toEqual([first.id, second.id]);
  const rest = await claim(20);
  expect(rest[0]).toBe(creating.id);
  expect(rest.slice(1).sort()).toEqual(old.sort());
  expect(await claim(20)).toEqual([]);
});

test('of those that were asked about, the latest is claimed first: its order may still wait', async () => {
  const ids: string[] = [];
  for (let hours = 1; hours <= 3; hours += 1) {
    const { id } = await begin();
    ids.push(id);
    await fixture.query(
      `UPDATE payment_attempt SET state = 'OPEN', tries = 1, settle_at = NOW(3) - INTERVAL ? HOUR WHERE id = ?`,
      [hours, bytesOf(id)],
    );
  }
  const claimed = await fixture.repository.claimDueAttempts({ provider, limit: 2, leaseMs: 60_000 });
  expect(claimed.map(({ id }) => id)).toEqual(ids.slice(0, 2));
});
