import { parseArgs } from 'node:util';
import { type FaultName, faultNames } from './faults.ts';
import { type GuardName, guardNames, guardsWithout } from './guards.ts';
import { runSeed, type SeedResult } from './run-seed.ts';

const usage = `usage: npm run simulate -- --seed N [--trace] [--without fault,fault] [--off guard,guard]
       npm run simulate -- --seeds FROM..TO
Plays histories of the whole system on modelled stores, each decided by its number alone.
faults: ${faultNames.join(', ')}
guards: ${guardNames.join(', ')}
`;

/** Failures shown in full; of the rest the number. */
const shownMax = 10;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    trace: { type: 'boolean', default: false },
    without: { type: 'string', default: '' },
    off: { type: 'string', default: '' },
  },
});
const without = new Set(values.without.split(',').filter((name) => name !== '') as FaultName[]);
const guards = guardsWithout(...(values.off.split(',').filter((name) => name !== '') as GuardName[]));
const range = /^(\d+)\.\.(\d+)$/.exec(values.seeds ?? `${values.seed}..${values.seed}`);
if (!range) {
  process.stderr.write(usage);
  process.exit(2);
}
process.exitCode = await simulate(Number(range[1]), Number(range[2]));

async function simulate(from: number, to: number): Promise<number> {
  const startedAt = performance.now();
  let orders = 0;
  let failed = 0;
  for (let seed = from; seed <= to; seed += 1) {
    const onLine = (line: string) => void process.stdout.write(`${line}\n`);
    const result = await runSeed({ seed, without, guards, ...(values.trace ? { onLine } : {}) });
    orders += result.orders;
    if (result.violations.length === 0) continue;
    failed += 1;
    if (failed <= shownMax) describe(result);
  }
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  const count = to - from + 1;
  process.stdout.write(`simulation: seeds=${count} orders=${orders} failed=${failed} in ${seconds} s\n`);
  return failed > 0 ? 1 : 0;
}

function describe({ seed, violations, faults }: SeedResult): void {
  const struck = [...faults].map(([name, count]) => `${name} x${count}`).join(', ') || 'none';
  process.stdout.write(`seed ${seed} (faults: ${struck})\n`);
  for (const { invariant, what } of violations.slice(0, shownMax)) {
    process.stdout.write(`  ${invariant}: ${what}\n`);
  }
  process.stdout.write(`  its history: npm run simulate -- --seed ${seed} --trace\n`);
}
