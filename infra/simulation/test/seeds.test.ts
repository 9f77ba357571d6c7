import { expect, it } from 'vitest';
import { runSeed } from '../src/run-seed.ts';
import { foundSeeds, seedsOfTest } from '../src/seed-lists.ts';

const chunk = 100;
const starts = Array.from({ length: seedsOfTest / chunk }, (_, index) => index * chunk + 1);

/** A failing seed is replayed with: npm run simulate -- --seed N --trace */
async function play(from: number, to: number): Promise<string[]> {
  const failures: string[] = [];
  for (let seed = from; seed <= to; seed += 1) {
    const { violations } = await runSeed({ seed });
    for (const { invariant, what } of violations) failures.push(`seed ${seed}: ${invariant} ${what}`);
  }
  return failures;
}

it.each(foundSeeds)('seed $seed, which once showed: $what', async ({ seed }) => {
  expect(await play(seed, seed)).toEqual([]);
});

it.each(starts)('a hundred histories from seed %i keep every invariant through every fault', async (from) => {
  expect(await play(from, from + chunk - 1)).toEqual([]);
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
