import { messageBytesMax, type OutboxRow, ordersPerMessageMax, timeoutMessage } from '@lapse/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { groupByDueTime } from '../src/group-by-due-time.ts';
import { newId, newOrder } from './support.ts';

const baseMs = Date.UTC(2026, 0, 1);

const userIds = fc.oneof(
  fc.string({ minLength: 1, maxLength: 128, unit: 'grapheme' }).filter((text) => text.length <= 128),
  fc.constantFrom('"'.repeat(128), '文'.repeat(128), '\\'.repeat(128), '😀'.repeat(64)),
);
const orders = fc
  .record({ offsetMs: fc.integer({ min: 0, max: 5_000 }), userId: userIds })
  .map(({ offsetMs, userId }) => newOrder(baseMs + offsetMs, { userId }));
const rows: fc.Arbitrary<OutboxRow[]> = fc.array(
  fc.record({
    id: fc.constant(null).map(newId),
    phase: fc.constantFrom(1 as const, 2 as const),
    orders: fc.array(orders, { minLength: 0, maxLength: 40 }),
  }),
  { maxLength: 12 },
);
const limits = fc.record({
  dueWindowMs: fc.integer({ min: 0, max: 3_000 }),
  ordersMax: fc.integer({ min: 1, max: ordersPerMessageMax }),
  bytesMax: fc.integer({ min: 700, max: messageBytesMax }),
});

describe('messages made of outbox rows', () => {
  test('hold every order of every row exactly once, under its row and phase', () => {
    fc.assert(
      fc.property(rows, limits, (rows, limits) => {
        const groups = groupByDueTime(rows, limits);
        const put = groups.flatMap((group) =>
          group.message.orders.map((order) => `${group.message.phase} ${order.orderId}`),
        );
        const given = rows.flatMap((row) => row.orders.map((order) => `${row.phase} ${order.orderId}`));
        expect(put.sort()).toEqual(given.sort());
        for (const { message, rowIds } of groups) {
          const ids = new Set(message.orders.map((order) => order.orderId));
          const owners = rows.filter((row) => row.orders.some((order) => ids.has(order.orderId)));
          expect([...rowIds].sort()).toEqual(owners.map((row) => row.id).sort());
        }
      }),
    );
  });

  test('keep the limits of orders, bytes and due window, whatever the user ids', () => {
    fc.assert(
      fc.property(rows, limits, (rows, limits) => {
        for (const { message } of groupByDueTime(rows, limits)) {
          const dueTimes = message.orders.map((order) => order.dueTime);
          expect(message.orders.length).toBeLessThanOrEqual(limits.ordersMax);
          expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThanOrEqual(limits.bytesMax);
          expect(message.dueTime).toBe(Math.min(...dueTimes));
          expect(Math.max(...dueTimes) - message.dueTime).toBeLessThanOrEqual(limits.dueWindowMs);
        }
      }),
    );
  });

  test('are what consumers read: with the longest user ids they are more, each within the size limit', () => {
    const row = {
      id: newId(),
      phase: 2 as const,
      orders: Array.from({ length: ordersPerMessageMax }, () =>
        newOrder(baseMs, { userId: '文'.repeat(128) }),
      ),
    };
    const messages = groupByDueTime([row], { dueWindowMs: 1_000 }).map((group) => group.message);
    expect(messages.length).toBeGreaterThan(1);
    expect(messages.flatMap((message) => message.orders)).toEqual(row.orders);
    for (const message of messages) {
      expect(timeoutMessage.safeParse(JSON.parse(JSON.stringify(message))).success).toBe(true);
      expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThanOrEqual(messageBytesMax);
    }
  });

  test('are few: rows due together share a message', () => {
    const rows = Array.from({ length: 50 }, (_, i) => ({
      id: newId(),
      phase: 2 as const,
      orders: [newOrder(baseMs + i)],
    }));
    expect(groupByDueTime(rows, { dueWindowMs: 1_000 })).toHaveLength(1);
  });
});
