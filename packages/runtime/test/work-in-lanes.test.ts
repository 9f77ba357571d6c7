import { expect, test } from 'vitest';
import { workInLanes } from '../src/index.ts';

const numbers = Array.from({ length: 20 }, (_, index) => index);

test('every item has its turn, in order, and never more at once than there are lanes', async () => {
  const begun: number[] = [];
  let atOnce = 0;
  let mostAtOnce = 0;
  await workInLanes(numbers, 3, async (number) => {
    begun.push(number);
    atOnce += 1;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    await new Promise((resolve) => setTimeout(resolve, number % 3));
    atOnce -= 1;
  });
  expect(begun).toEqual(numbers);
  expect(mostAtOnce).toBe(3);
  await workInLanes([], 3, () => Promise.reject(new Error('there is nothing to do')));
});

test('one that fails stops no other, and its error is thrown when all others are done', async () => {
  const done: number[] = [];
  const work = workInLanes(numbers, 3, async (number) => {
    if (number === 1) throw new Error('the second one');
    await new Promise((resolve) => setTimeout(resolve, 1));
    done.push(number);
  });
  await expect(work).rejects.toThrow('the second one');
  expect(done).toEqual(numbers.filter((number) => number !== 1));
});

test('what fails for all is tried once in each lane, and no more', async () => {
  let tries = 0;
  const work = workInLanes(numbers, 3, async () => {
    tries += 1;
    throw new Error('away');
  });
  await expect(work).rejects.toThrow('away');
  expect(tries).toBe(3);
});
