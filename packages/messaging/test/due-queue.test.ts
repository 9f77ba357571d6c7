import type { TimeoutOrder } from '@lapse/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createDueQueue, type HeldMessage } from '../src/due-queue.ts';
import { dueTimesOf, newOrder } from './support.ts';

function message(view: string): HeldMessage<string> {
  return { view, holdUntilMs: Number.POSITIVE_INFINITY, isKept: false, remaining: 0 };
}

function add(
  queue: ReturnType<typeof createDueQueue<string>>,
  order: TimeoutOrder,
  held: HeldMessage<string>,
) {
  queue.add(order.orderId, held, { dueAt: order.dueTime, far: false });
}

describe('the orders in hand', () => {
  test('come out by due time, each once, never before it, however often they were delivered', () => {
    const pool = Array.from({ length: 30 }, (_, i) => newOrder(1_000 + (i % 7) * 10));
    const dueTimes = dueTimesOf(pool);
    const deliveries = fc.array(fc.array(fc.nat({ max: pool.length - 1 }), { minLength: 1, maxLength: 10 }));
    fc.assert(
      fc.property(deliveries, fc.integer({ min: 1, max: 5 }), (deliveries, batchMax) => {
        const queue = createDueQueue<string>();
        const held = deliveries.map((_, index) => message(String(index)));
        deliveries.forEach((indexes, i) => {
          for (const index of indexes)
            add(queue, pool[index] as TimeoutOrder, held[i] as HeldMessage<string>);
        });
        const out: string[] = [];
        const acked: string[] = [];
        for (let now = 990; now <= 1_070; now += 10) {
          for (let due = queue.takeDue(now, batchMax); due.length > 0; due = queue.takeDue(now, batchMax)) {
            expect(due.length).toBeLessThanOrEqual(batchMax);
            for (const one of due) {
              expect(dueTimes.get(one.orderId)).toBe(now);
              out.push(one.orderId);
              acked.push(...queue.finish(one).map((done) => done.view));
            }
          }
        }
        const expected = new Set(deliveries.flat().map((index) => pool[index]?.orderId));
        expect(out.sort()).toEqual([...expected].sort());
        expect(acked.sort()).toEqual(held.map((one) => one.view).sort());
        expect(queue.size()).toBe(0);
        expect(queue.nextDueAt()).toBeUndefined();
        expect(queue.messages().size).toBe(0);
      }),
    );
  });

  test('a message is complete only when its last order is finished, in whichever message that came', () => {
    const queue = createDueQueue<string>();
    const [first, second] = [message('first'), message('second')];
    const [early, late] = [newOrder(10), newOrder(20)];
    for (const order of [early, late]) add(queue, order, first);
    add(queue, late, second);
    const [a] = queue.takeDue(10, 9);
    expect(a && queue.finish(a)).toEqual([]);
    const [b] = queue.takeDue(20, 9);
    expect(b && queue.finish(b).map((done) => done.view)).toEqual(['first', 'second']);
  });

  test('a duplicate that arrives while the order is with the handler joins it', () => {
    const queue = createDueQueue<string>();
    const order = newOrder(10);
    add(queue, order, message('first'));
    const [taken] = queue.takeDue(10, 9);
    add(queue, order, message('second'));
    expect(queue.takeDue(99, 9)).toEqual([]);
    expect(taken && queue.finish(taken).map((done) => done.view)).toEqual(['first', 'second']);
  });

  test('an order delivered again with an earlier time is looked at then, and only once', () => {
    const queue = createDueQueue<string>();
    const order = newOrder(100);
    add(queue, order, message('first'));
    add(queue, { ...order, dueTime: 50 }, message('second'));
    expect(queue.nextDueAt()).toBe(50);
    const [taken] = queue.takeDue(50, 9);
    expect(taken?.orderId).toBe(order.orderId);
    expect(queue.takeDue(100, 9)).toEqual([]);
    expect(queue.size()).toBe(1);
  });

  test('the place that a moved order left behind keeps no other from being looked at in time', () => {
    const queue = createDueQueue<string>();
    const [moved, beside, behind] = [newOrder(100), newOrder(50), newOrder(150)];
    for (const order of [moved, { ...moved, dueTime: 50 }, beside, behind]) add(queue, order, message('one'));
    const [taken] = queue.takeDue(50, 1);
    expect(taken?.orderId).toBe(moved.orderId);
    if (taken) queue.putBack(taken, 200);
    expect(queue.takeDue(50, 1).map(({ orderId }) => orderId)).toEqual([beside.orderId]);
    expect(queue.nextDueAt()).toBe(150);
    expect(queue.takeDue(199, 9).map(({ orderId }) => orderId)).toEqual([behind.orderId]);
    expect(queue.takeDue(200, 9)).toEqual([taken]);
  });

  test('a duplicate does not cut short the wait of an order that failed', () => {
    const queue = createDueQueue<string>();
    const order = newOrder(10);
    add(queue, order, message('first'));
    const [taken] = queue.takeDue(10, 9);
    if (taken) {
      taken.failures = 1;
      queue.putBack(taken, 200);
    }
    add(queue, order, message('second'));
    expect(queue.nextDueAt()).toBe(200);
  });

  test('a forgotten order leaves nothing behind, and its message is never complete', () => {
    const queue = createDueQueue<string>();
    const held = message('first');
    const [kept, forgotten] = [newOrder(10), newOrder(10)];
    add(queue, kept, held);
    add(queue, forgotten, held);
    const [a, b] = queue.takeDue(10, 9);
    if (a) queue.forget(a);
    expect(b && queue.finish(b)).toEqual([]);
    expect(queue.size()).toBe(0);
  });

  test('cleared it holds nothing, gives back every message once, and takes the same orders anew', () => {
    const queue = createDueQueue<string>();
    const [first, second] = [message('first'), message('second')];
    const [a, b] = [newOrder(10), newOrder(20)];
    add(queue, a, first);
    add(queue, b, first);
    add(queue, b, second);
    expect([...queue.clear()].map(({ view }) => view)).toEqual(['first', 'second']);
    expect([queue.size(), queue.nextDueAt(), queue.messages().size]).toEqual([0, undefined, 0]);
    expect(queue.takeDue(99, 9)).toEqual([]);
    const again = message('again');
    add(queue, a, again);
    const [taken] = queue.takeDue(99, 9);
    expect(taken && queue.finish(taken).map((done) => done.view)).toEqual(['again']);
  });
});
