import { parseBenchArgs } from './args.ts';
import { BenchError } from './bench-error.ts';
import { goalTable } from './report/goal-table.ts';
import { runBench } from './run-bench.ts';
import { catalogueOf, scenarios } from './scenarios.ts';
import { readServices } from './services.ts';

/** `npm run bench`, once the services run. This file only wires. */
async function main(): Promise<number> {
  const args = parseBenchArgs(process.argv.slice(2), catalogueOf(scenarios));
  // Asked before the services start: a wrong argument is said at once.
  if (process.env.LAPSE_BENCH_CHECK_ONLY) return 0;
  const services = await readServices(process.env);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  const options = { ...args, services, signal: stop.signal, say };
  const result = await runBench(scenarios, options).finally(services.peers.close);
  if (stop.signal.aborted) return 130;
  // Goals are meant for full sizes.
  const goals = args.quick ? '' : goalTable(result, { measuredOnly: true });
  if (goals !== '') say(goals);
  say(result.closingLine);
  const hasFault = result.scenarios.some(({ contenders }) =>
    contenders.some(({ outcomes }) => outcomes.some(({ kind }) => kind === 'no-figure')),
  );
  return hasFault ? 1 : 0;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    const text =
      error instanceof BenchError ? `${error.code}: ${error.message}` : String((error as Error).stack);
    process.stderr.write(`${text}\n`);
    process.exit(1);
  },
);
