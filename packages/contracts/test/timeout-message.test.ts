import { describe, expect, it } from 'vitest';
import {
  consumerGroupOf,
  messageBytesMax,
  ordersPerMessageMax,
  timeoutMessage,
  timeoutMessageVersion,
  topicOf,
} from '../src/index.ts';

const order = {
  orderId: '019ad0c4-8b1e-7c3a-9f00-3b1c52d6a001',
  activityId: 42,
  userId: 'buyer',
  createTime: 1_764_000_000_000,
  dueTime: 1_764_000_600_000,
};
const message = { version: timeoutMessageVersion, phase: 1, dueTime: order.dueTime, orders: [order] };

describe('a timeout message', () => {
  it('reads back what was written', () => {
    expect(timeoutMessage.parse(JSON.parse(JSON.stringify(message)))).toEqual(message);
  });

  it.each([
    ['of another version', { version: 2 }],
    ['of an unknown phase', { phase: 3 }],
    ['without orders', { orders: [] }],
    ['with too many orders', { orders: Array.from({ length: ordersPerMessageMax + 1 }, () => order) }],
    ['with a field it does not know', { extra: true }],
    ['with an order id that is none', { orders: [{ ...order, orderId: 'x' }] }],
    ['with a due time that is none', { dueTime: Number.NaN }],
    ['with an activity that is no number', { orders: [{ ...order, activityId: '42' }] }],
  ])('%s is refused, so that it is parked and not acted on', (_name, change) => {
    expect(timeoutMessage.safeParse({ ...message, ...change }).success).toBe(false);
  });

  it('fits the size limit when full, with user ids as long as a UUID', () => {
    const full = {
      ...message,
      orders: Array.from({ length: ordersPerMessageMax }, () => ({ ...order, userId: 'a'.repeat(36) })),
    };
    expect(timeoutMessage.safeParse(full).success).toBe(true);
    expect(Buffer.byteLength(JSON.stringify(full))).toBeLessThanOrEqual(messageBytesMax);
  });
});

describe('topics and groups', () => {
  it('have the agreed names, and a prefix for installations that share a broker', () => {
    expect([topicOf(1), topicOf(2)]).toEqual(['order-timeout-reminder', 'order-timeout-close']);
    expect([consumerGroupOf(1), consumerGroupOf(2)]).toEqual(['order-reminder', 'order-closer']);
    expect([topicOf(1, 'test-'), consumerGroupOf(2, 'test-')]).toEqual([
      'test-order-timeout-reminder',
      'test-order-closer',
    ]);
  });
});
