import fc from 'fast-check';
import { afterAll, beforeAll, test } from 'vitest';
import { type CrashWorld, openCrashWorld } from '../src/crash-world.ts';
import { crashPointsOf, effects, type ProcessName } from '../src/effects.ts';
import { killAt } from '../src/kill-at.ts';

/** LAPSE_CRASH_SEED replays a run; LAPSE_CRASH_PAIRS makes a long one. */
const seed = Number(process.env.LAPSE_CRASH_SEED ?? Date.now() % 1_000_000);
const pairs = Number(process.env.LAPSE_CRASH_PAIRS ?? 6);

let world: CrashWorld;
beforeAll(async () => {
  world = await openCrashWorld();
  process.stdout.write(`crash pairs: ${pairs}, LAPSE_CRASH_SEED=${seed}\n`);
});
afterAll(() => world.close());

const victim = (name: ProcessName) =>
  fc.constantFrom(...crashPointsOf(name)).map((point) => ({ name, point }));
const pair = fc
  .shuffledSubarray(Object.keys(effects) as ProcessName[], { minLength: 2, maxLength: 2 })
  .chain((names) => fc.tuple(...names.map(victim)));

test.each(fc.sample(pair, { seed, numRuns: pairs }))(
  '%j and %j killed in one sale: nothing lost, nothing twice',
  { timeout: 150_000 },
  async (...victims) => {
    await killAt(world, victims);
  },
);
