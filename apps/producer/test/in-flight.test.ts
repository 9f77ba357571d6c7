import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createInFlight } from '../src/in-flight.ts';

const place = { activityId: 1, userId: 'ann' };
const long = 60_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A write that the test ends. */
function openWrite() {
  let resolve = (): void => undefined;
  let reject = (): void => undefined;
  const promise = new Promise<void>((done, fail) => {
    resolve = done;
    reject = fail;
  });
  return { promise, resolve, reject };
}

/** Whether it is over once so much time has passed. */
async function isOverIn(ms: number, wait: Promise<void>): Promise<boolean> {
  const over = vi.fn();
  void wait.then(over);
  await vi.advanceTimersByTimeAsync(ms);
  return over.mock.calls.length > 0;
}

it.each(['resolve', 'reject'] as const)(
  'a write that settles (%s) ends the wait for it at once',
  async (end) => {
    const inFlight = createInFlight();
    const write = openWrite();
    const tracked = inFlight.track(place, write.promise);
    const wait = inFlight.wait(place, 0, long);
    expect(await isOverIn(long / 2, wait)).toBe(false);
    write[end]();
    await tracked.catch(() => undefined);
    expect(await isOverIn(0, wait)).toBe(true);
  },
);

it.each(['resolve', 'reject'] as const)(
  'a write that has settled (%s) is forgotten: who waits then pauses, and does not ask over and over',
  async (end) => {
    const inFlight = createInFlight();
    const write = openWrite();
    const tracked = inFlight.track(place, write.promise);
    write[end]();
    await tracked.catch(() => undefined);
    const wait = inFlight.wait(place, 0, long);
    expect(await isOverIn(0, wait)).toBe(false);
    expect(await isOverIn(1_000, wait)).toBe(true);
  },
);

it('a write that ends does not take the next one of its buyer along', async () => {
  const inFlight = createInFlight();
  const [first, second] = [openWrite(), openWrite()];
  const tracked = inFlight.track(place, first.promise);
  void inFlight.track(place, second.promise);
  first.resolve();
  await tracked;
  const wait = inFlight.wait(place, 0, long);
  expect(await isOverIn(1_000, wait)).toBe(false);
  second.resolve();
  expect(await isOverIn(0, wait)).toBe(true);
});

it('a write that takes too long is waited for no longer than asked', async () => {
  const inFlight = createInFlight();
  void inFlight.track(place, new Promise(() => undefined));
  const wait = inFlight.wait(place, 0, 1_500);
  expect(await isOverIn(1_499, wait)).toBe(false);
  expect(await isOverIn(1, wait)).toBe(true);
});
