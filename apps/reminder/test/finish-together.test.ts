import { registry } from '@lapse/runtime';
import { expect, test } from 'vitest';
import { finishTogether } from '../src/finish-together.ts';

test('what ends while a write is under way is written in one more; one that cannot be written stops no other', async () => {
  const writes: number[][] = [];
  const finish = finishTogether<number>(
    'note_notice',
    async (finished) => {
      writes.push([...finished]);
      await new Promise(setImmediate);
      if (finished.includes(3)) throw new Error('row 3 is refused');
    },
    10,
  );
  const ends = await Promise.allSettled([0, 1, 2, 3, 4].map(finish));
  expect(ends.map(({ status }) => status)).toEqual([
    ...['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  ]);
  expect(writes).toEqual([[0, 1, 2, 3, 4], [0], [1], [2], [3], [4]]);
});

test('notices and events are two queues in the metrics: neither hides what waits in the other', async () => {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const noteNotice = finishTogether<number>('note_notice', () => gate, 10);
  const noteShopEvent = finishTogether<number>('note_shop_event', () => gate, 10);
  // What is under way waits no more.
  const begun = [noteNotice(0), noteShopEvent(0)];
  await Promise.resolve();
  const waiting = [noteNotice(1), noteNotice(2), noteShopEvent(1)];
  const text = await registry.metrics();
  expect(text).toContain('lapse_queue_items{queue="note_notice"} 2');
  expect(text).toContain('lapse_queue_items{queue="note_shop_event"} 1');
  open();
  await Promise.all([...begun, ...waiting]);
});
