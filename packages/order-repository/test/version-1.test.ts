import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createActivity, type Fixture, openFixture } from './fixture.ts';

const folder = new URL('../../contracts/test/fixtures/version-1/', import.meta.url);
const bytesOf = (name: string): Buffer => readFileSync(new URL(name, folder));
const { orders } = JSON.parse(bytesOf('expected.json').toString()) as { orders: { orderId: string }[] };
const orderIds = orders.map(({ orderId }) => orderId);

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());

const rowId = (last: number): Buffer => Buffer.from(`019ad0c48b1e7c3a9f003b1c52d6b00${last}`, 'hex');

test('an outbox row that a process of version 1 wrote is claimed with its orders', async () => {
  await fixture.query(
    `INSERT INTO message_outbox (id, phase, body, order_count, due_at, created_at)
     VALUES (?, 2, ?, 3, NOW(3), NOW(3) - INTERVAL 1 MINUTE)`,
    [rowId(1), bytesOf('outbox-body.bytes').toString()],
  );
  const rows = await fixture.repository.claimOutbox({ olderThanMs: 0, limit: 10, leaseMs: 1_000 });
  expect(rows).toEqual([{ id: '019ad0c4-8b1e-7c3a-9f00-3b1c52d6b001', phase: 2, orders }]);
});

test('effects that a process of version 1 left are replayed for the orders that they name', async () => {
  const { id: activityId } = await createActivity(fixture.repository);
  const insert = `INSERT INTO effect (id, batch_id, kind, activity_id, order_ids, detail, created_at)
    VALUES (?, ?, ?, ?, ?, ?, NOW(3) - INTERVAL ? MINUTE)`;
  const packed = bytesOf('effect-order-ids.bytes');
  const capacity = bytesOf('effect-capacity.bytes').toString();
  await fixture.query(insert, [rowId(2), rowId(9), 'release', activityId, packed, null, 3]);
  await fixture.query(insert, [rowId(3), rowId(9), 'confirm', activityId, packed, null, 2]);
  await fixture.query(insert, [rowId(4), rowId(9), 'capacity', activityId, Buffer.alloc(0), capacity, 1]);
  expect(await fixture.repository.listPendingEffects({ olderThanMs: 0, limit: 10 })).toMatchObject([
    { kind: 'release', activityId, orderIds },
    { kind: 'confirm', activityId, orderIds },
    { kind: 'capacity', activityId, version: 7, capacity: 520 },
  ]);
});

test('an effect whose detail is of no version that is known is left out and reported, and stays', async () => {
  await fixture.query('DELETE FROM effect');
  await fixture.query(
    `INSERT INTO effect (id, batch_id, kind, activity_id, order_ids, detail, created_at)
     VALUES (?, ?, 'capacity', 1, '', 'v2:520', NOW(3) - INTERVAL 1 MINUTE)`,
    [rowId(5), rowId(9)],
  );
  expect(await fixture.repository.listPendingEffects({ olderThanMs: 0, limit: 10 })).toEqual([]);
  expect(await fixture.query('SELECT COUNT(*) AS n FROM effect')).toEqual([{ n: 1 }]);
  expect(fixture.logged.filter(({ level }) => level === 'error')).toHaveLength(1);
});
