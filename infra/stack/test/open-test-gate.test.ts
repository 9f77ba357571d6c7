import { waitUntil } from '@lapse/testing';
import { expect, test } from 'vitest';
import { openTestGate } from '../src/open-test-gate.ts';

const full = 1_000;

/** Works that go on until they are ended, all asked for at once. */
function begin(gate: ReturnType<typeof openTestGate>, count: number) {
  const begun: (() => void)[] = [];
  const all = Array.from({ length: count }, () =>
    gate(0, () => new Promise<void>((resolve) => begun.push(resolve))),
  );
  return { begun, all };
}

test('on a full machine one package runs at a time, the next once it is over; with room all begin', async () => {
  let load = full;
  const { begun, all } = begin(
    openTestGate(new AbortController().signal, () => load),
    4,
  );
  await waitUntil(() => begun.length === 1, { what: 'the first to begin' });
  begun[0]?.();
  await waitUntil(() => begun.length === 2, { what: 'the next to begin' });
  load = 0;
  // The looks at the full machine count until ten seconds have passed.
  await waitUntil(() => begun.length === 4, { what: 'the rest to begin', timeoutMs: 30_000 });
  for (const end of begun) end();
  await Promise.all(all);
});

test('what has just begun is given time to show in the load', async () => {
  const gate = openTestGate(new AbortController().signal, () => 0);
  let end = (): void => undefined;
  const startedAt = performance.now();
  const first = gate(2.5, () => new Promise<void>((resolve) => (end = resolve)));
  await gate(0, async () => undefined);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1_900);
  end();
  await first;
});

test('a moment in which nothing runs is no room', async () => {
  let looks = 0;
  const { begun, all } = begin(
    openTestGate(new AbortController().signal, () => (++looks === 1 ? 0 : full)),
    2,
  );
  await waitUntil(() => looks > 6, { what: 'looks at the machine' });
  expect(begun).toHaveLength(1);
  begun[0]?.();
  await waitUntil(() => begun.length === 2, { what: 'the next to begin' });
  begun[1]?.();
  await Promise.all(all);
});

test('once aborted nobody waits', async () => {
  const stop = new AbortController();
  const { begun, all } = begin(
    openTestGate(stop.signal, () => full),
    3,
  );
  await waitUntil(() => begun.length === 1, { what: 'the first to begin' });
  stop.abort();
  await waitUntil(() => begun.length === 3, { what: 'all to pass' });
  for (const end of begun) end();
  await Promise.all(all);
});
