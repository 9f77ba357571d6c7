import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { dirname } from 'node:path';
import type { BenchArgs } from './args.ts';
import { closingLine } from './closing-line.ts';
import { describeMachine } from './describe-machine.ts';
import { htmlPage } from './report/html-page.ts';
import { type BenchResult, benchResult } from './result.ts';
import { runRounds } from './run-rounds.ts';
import type { Scenario } from './scenario.ts';
import type { BenchServices } from './services.ts';

export interface BenchOptions extends BenchArgs {
  readonly services: BenchServices;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** Measure, judge, and write the figures down. */
export async function runBench(scenarios: readonly Scenario[], options: BenchOptions): Promise<BenchResult> {
  const startedAt = new Date();
  const before = load();
  const machine = await describeMachine(options.services);
  options.say(
    `${machine.cores} cores, ${machine.cpu}; load ${before.map((value) => value.toFixed(1)).join(' ')}`,
  );
  const results = await runRounds(scenarios, options);
  const result = benchResult.parse({
    version: 2,
    startedAt: startedAt.toISOString(),
    seconds: (Date.now() - startedAt.getTime()) / 1_000,
    quick: options.quick,
    machine,
    load: { before, after: load() },
    scenarios: results,
    closingLine: closingLine(results),
  });
  if (options.json !== null) writeTo(options.json, `${JSON.stringify(result)}\n`);
  if (options.html !== null) writeTo(options.html, htmlPage(result));
  return result;
}

function writeTo(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function load(): [number, number, number] {
  const [one = 0, five = 0, fifteen = 0] = loadavg();
  return [one, five, fifteen];
}
