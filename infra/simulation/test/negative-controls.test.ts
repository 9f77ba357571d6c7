import { expect, it } from 'vitest';
import type { FaultRates } from '../src/faults.ts';
import { type GuardName, guardNames, guardsWithout } from '../src/guards.ts';
import { runSeed } from '../src/run-seed.ts';
import { lateLoads, seedsOfTest } from '../src/seed-lists.ts';

/** Guards that stand before another one: with both there, the second has nothing left to do. */
const standsBefore: Partial<Record<GuardName, GuardName>> = {
  // Redis that went back in time under its generation sells what is sold, if it is asked.
  conditionalDecrement: 'runIdFence',
};

/** What must show where switching off the guard before it shows something of its own. */
const mustShow: Partial<Record<GuardName, string>> = { conditionalDecrement: 'I1' };

/** Some guards are needed when several things go wrong at once: which, so that few seeds will do. */
const needs: Partial<Record<GuardName, FaultRates>> = {
  generationFence: { 'redis-flushed': 0.25, 'mysql-unknown-late': 0.25 },
  loadToken: lateLoads,
  emptinessNamed: lateLoads,
  sweep: { 'broker-loses': 0.25 },
  loadSeen: { 'redis-flushed': 0.25 },
};

/** The first seed that finds the guard missing, and what it says. */
async function findViolation(guard: GuardName) {
  const off = [guard, standsBefore[guard] ?? guard];
  for (let seed = 1; seed <= seedsOfTest; seed += 1) {
    const { violations } = await runSeed({ seed, guards: guardsWithout(...off), often: needs[guard] ?? {} });
    const first = violations.find(({ invariant }) => invariant === (mustShow[guard] ?? invariant));
    if (first) return { seed, first };
  }
  return undefined;
}

it.each(guardNames)('without %s, the seeds of npm test find a violation', async (guard) => {
  const found = await findViolation(guard);
  expect(found).toBeDefined();
  process.stdout.write(
    `without ${guard}: seed ${found?.seed}, ${found?.first.invariant} ${found?.first.what}\n`,
  );
});
