import { expect, test } from 'vitest';
import { logIdsOnce, retryLater } from '../src/index.ts';

test('an order that is not due waits exactly as long as the database says', () => {
  const retry = retryLater({ notDue: [{ orderId: 'a', dueInMs: 299_998 }], contended: [] });
  expect(retry).toEqual([{ orderId: 'a', inMs: 299_998 }]);
});

test('a contended order is asked again after 20 to 50 ms, never at once and never given up', () => {
  const contended = ['a'];
  const least = retryLater({ notDue: [], contended }, () => 0);
  const most = retryLater({ notDue: [], contended }, () => 0.999_999);
  expect(least).toEqual([{ orderId: 'a', inMs: 20 }]);
  expect(most).toEqual([{ orderId: 'a', inMs: 50 }]);
});

test('an id is logged once, however often its message comes', () => {
  const lines: { count: number; orderIds: string[] }[] = [];
  const report = logIdsOnce((fields) => lines.push(fields), 'unknown order');
  expect(report(['a', 'b'])).toBe(2);
  expect(report(['b'])).toBe(0);
  expect(report(['b', 'c'])).toBe(1);
  expect(lines).toEqual([
    { count: 2, orderIds: ['a', 'b'] },
    { count: 1, orderIds: ['c'] },
  ]);
});

test('a log line names at most 20 ids and counts the rest', () => {
  const lines: { count: number; orderIds: string[] }[] = [];
  const report = logIdsOnce((fields) => lines.push(fields), 'unknown order');
  report(Array.from({ length: 1_000 }, (_, index) => `order-${index}`));
  expect(lines).toHaveLength(1);
  expect(lines[0]?.count).toBe(1_000);
  expect(lines[0]?.orderIds).toHaveLength(20);
});
