import { expect, test } from 'vitest';
import { finishTogether } from '../src/finish-together.ts';

test('what ends while a write is under way is written in one more; one that cannot be written stops no other', async () => {
  const writes: number[][] = [];
  const finish = finishTogether<number>(async (finished) => {
    writes.push([...finished]);
    await new Promise(setImmediate);
    if (finished.includes(3)) throw new Error('row 3 is refused');
  }, 10);
  const ends = await Promise.allSettled([0, 1, 2, 3, 4].map(finish));
  expect(ends.map(({ status }) => status)).toEqual([
    ...['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  ]);
  expect(writes).toEqual([[0, 1, 2, 3, 4], [0], [1], [2], [3], [4]]);
});
