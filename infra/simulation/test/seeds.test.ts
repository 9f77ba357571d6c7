import { expect, it } from 'vitest';
import { guardsWithout } from '../src/guards.ts';
import { runSeed } from '../src/run-seed.ts';
import { foundSeeds, seedsOfTest } from '../src/seed-lists.ts';

const chunk = 100;
const starts = Array.from({ length: seedsOfTest / chunk }, (_, index) => index * chunk + 1);

/** A failing seed is replayed with: npm run simulate -- --seed N --trace */
async function play(from: number, to: number): Promise<{ failures: string[]; orders: number }> {
  const failures: string[] = [];
  let sold = 0;
  for (let seed = from; seed <= to; seed += 1) {
    const { violations, orders } = await runSeed({ seed });
    sold += orders;
    for (const { invariant, what } of violations) failures.push(`seed ${seed}: ${invariant} ${what}`);
  }
  return { failures, orders: sold };
}

it.each(foundSeeds)('seed $seed, which once showed: $what', async ({ seed, guard, often }) => {
  expect((await runSeed({ seed, often })).violations).toEqual([]);
  expect((await runSeed({ seed, often, guards: guardsWithout(guard) })).violations).not.toEqual([]);
});

it.each(starts)('a hundred histories from seed %i keep every invariant through every fault', async (from) => {
  const { failures, orders } = await play(from, from + chunk - 1);
  expect(failures).toEqual([]);
  // A system that refuses everybody keeps every invariant as well.
  expect(orders).toBeGreaterThan(2 * chunk);
});

it('one number is one history, whatever was played before it', async () => {
  const historyOf = async (seed: number): Promise<string[]> => {
    const lines: string[] = [];
    const onLine = (line: string) => void lines.push(line);
    await runSeed({ seed, onLine });
    return lines;
  };
  const first = await historyOf(11);
  await historyOf(5);
  expect(first.length).toBeGreaterThan(200);
  expect(await historyOf(11)).toEqual(first);
});
