import { expect, test } from 'vitest';
import { logIdsOnce, retryLater } from '../src/index.ts';

test('an order that is not due waits exactly as long as the database says', () => {
  const retry = retryLater({ notDue: [{ orderId: 'a', dueInMs: 299_998 }], settling: [], contended: [] });
  expect(retry).toEqual([{ orderId: 'a', inMs: 299_998 }]);
});

test('a contended order is asked again after 20 to 50 ms, never at once and never given up', () => {
  const contended = ['a'];
  const least = retryLater({ notDue: [], settling: [], contended }, () => 0);
  const most = retryLater({ notDue: [], settling: [], contended }, () => 0.999_999);
  expect(least).toEqual([{ orderId: 'a', inMs: 20 }]);
  expect(most).toEqual([{ orderId: 'a', inMs: 50 }]);
});

test('an order that is being paid is asked again within 250 ms, then more seldom, never past its grace', () => {
  const ask = (lateMs: number, dueInMs: number, random: number) =>
    retryLater({ notDue: [], settling: [{ orderId: 'a', dueInMs, lateMs }], contended: [] }, () => random)[0]
      ?.inMs;
  expect([ask(0, 30_000, 0), ask(0, 30_000, 0.999_999)]).toEqual([100, 249]);
  expect(ask(20_000, 10_000, 0)).toBe(2_100);
  expect(ask(0, 40, 0.5)).toBe(40);
});

test('an order that has been settling for a minute is left to the settler and the sweep', () => {
  const settling = [{ orderId: 'a', dueInMs: 500_000, lateMs: 60_000 }];
  expect(retryLater({ notDue: [], settling, contended: [] })).toEqual([]);
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
