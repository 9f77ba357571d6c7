import { describe, expect, test } from 'vitest';
import { planMachines } from '../src/scale/plan-machines.ts';
import { simulateCell } from '../src/scale/simulate-cell.ts';

const cost = { worker: 50, mysql: 100 };

describe('the played burst', () => {
  test('closes every order, never before its deadline, and no faster than its slowest part can', () => {
    const load = { orders: 100_000, windowMs: 0 };
    const quickStore = { worker: 50, mysql: 40 };
    const one = simulateCell(load, { closers: 1, primaryCores: 16, activities: 100_000 }, quickStore);
    // One closer's core is what it waits for: 100,000 orders at 50 us.
    expect(one.lastClosedMs).toBeGreaterThanOrEqual(5_000);
    expect(one.lastClosedMs).toBeLessThan(5_500);
    expect(one.busy.closer).toBeGreaterThan(0.9);
    const many = simulateCell(load, { closers: 16, primaryCores: 4, activities: 100_000 }, cost);
    // Now the four cores of MySQL: 100 us each.
    expect(many.lastClosedMs).toBeGreaterThanOrEqual(2_500);
    expect(many.lastClosedMs).toBeLessThan(2_800);
  });

  test('of one sale waits for its row, however many cores there are', () => {
    const load = { orders: 1_000_000, windowMs: 0 };
    const cell = { closers: 64, primaryCores: 1_000 };
    const one = simulateCell(load, { ...cell, activities: 1 }, cost);
    const many = simulateCell(load, { ...cell, activities: 1_000_000 }, cost);
    // 500 commits, one at a time.
    expect(one.lastClosedMs).toBeGreaterThanOrEqual(2_000);
    expect(many.lastClosedMs).toBeLessThan(one.lastClosedMs / 1.5);
  });

  test('whose deadlines are spread out is late by little while there is room, and by more and more where there is none', () => {
    const load = { orders: 600_000, windowMs: 60_000 };
    const roomy = simulateCell(load, { closers: 2, primaryCores: 4, activities: 100_000 }, cost);
    expect(roomy.lateP99Ms).toBeLessThan(50);
    const short = simulateCell(
      load,
      { closers: 2, primaryCores: 1, activities: 100_000 },
      { worker: 50, mysql: 150 },
    );
    expect(short.lateMaxMs).toBeGreaterThan(10_000);
  });
});

test('machines are planned for half load, at least one of each kind', () => {
  const needs = planMachines(100_000, { worker: 50, mysql: 100, redis: 5, broker: 0 });
  expect(needs.map(({ cores, machines }) => [cores, machines])).toEqual([
    [10, 10],
    [20, 2],
    [1, 1],
    [0, 1],
  ]);
});
