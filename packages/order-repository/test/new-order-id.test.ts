import { orderId } from '@lapse/contracts';
import { expect, it, vi } from 'vitest';
import { newOrderId } from '../src/new-order-id.ts';

it('is an id that the API takes, another one each time', () => {
  const ids = Array.from({ length: 10_000 }, newOrderId);
  for (const id of ids.slice(0, 1_000)) expect(orderId.parse(id)).toBe(id);
  expect(new Set(ids.map((id) => id.slice(15))).size).toBe(ids.length);
});

it('sorts by time, and says it', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const idAt = (ms: number): string => {
    vi.setSystemTime(ms);
    return newOrderId();
  };
  const ids = [1, 0xff_ffff, 1_796_000_000_000, 1_796_000_000_001, 0xffff_ffff_ffff].map(idAt);
  expect(ids.toSorted()).toEqual(ids);
  expect(Number.parseInt((ids[2] ?? '').replaceAll('-', '').slice(0, 12), 16)).toBe(1_796_000_000_000);
  vi.useRealTimers();
});
