import { createPrinter } from '@lapse/stack';
import { expect, test } from 'vitest';
import { runChaos } from '../src/run-chaos.ts';
import { sabotages } from '../src/sabotage.ts';

/** Start, two minutes of faults, the way to rest, five judgements more, and the stop. */
const runMsMax = 420_000;

test('two minutes of kills, freezes, cuts and rollbacks lose nothing and do nothing twice; what is broken by hand shows', {
  timeout: runMsMax,
}, async () => {
  const { line, ok, shown } = await runChaos({
    minutes: 2,
    seed: 4,
    keep: false,
    print: createPrinter(),
    signal: AbortSignal.timeout(runMsMax),
    onKill: () => undefined,
    sabotage: true,
  });
  expect(line).toMatch(
    /^chaos: faults=\d{2} orders=\d{3,} lost=0 twice=0 early=0 stuck=0 invariants=11\/11 seed=4$/,
  );
  expect(ok).toBe(true);
  expect(shown).toEqual(Object.fromEntries(sabotages.map(({ name }) => [name, true])));
});
