import { readSimulateArgs, type SimulateArgs } from './args.ts';
import { runSeed, type SeedResult } from './run-seed.ts';

/** Failures shown in full; of the rest the number. */
const shownMax = 10;

/** `npm run simulate`: plays histories, each decided by its number alone. */
const args = readSimulateArgs(process.argv.slice(2));
if (typeof args === 'string') {
  process.stderr.write(`${args}; npm run simulate -- --help lists the options.\n`);
  process.exit(2);
}
process.exitCode = await simulate(args);

async function simulate({ from, to, trace, without, guards }: SimulateArgs): Promise<number> {
  const startedAt = performance.now();
  let orders = 0;
  let failed = 0;
  for (let seed = from; seed <= to; seed += 1) {
    const onLine = (line: string) => void process.stdout.write(`${line}\n`);
    const result = await runSeed({ seed, without, guards, ...(trace ? { onLine } : {}) });
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
