import { readFileSync } from 'node:fs';
import { BenchError } from './bench-error.ts';
import { type BenchResult, benchResult } from './result.ts';

/**
 * The result that a run wrote with `--json`.
 * @throws {BenchError} LAPSE_BENCH_REPORT when it is not there, or of another version.
 */
export function readResult(file: string): BenchResult {
  const again = `Make it again: npm run bench -- --json=${file}`;
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new BenchError('LAPSE_BENCH_REPORT', `${(cause as Error).message}. ${again}`, { cause });
  }
  const { data, error } = benchResult.safeParse(json);
  if (data) return data;
  const [first] = error.issues;
  const why = `${first?.path.join('.')}: ${first?.message}`;
  throw new BenchError('LAPSE_BENCH_REPORT', `${file} is no result of this version (${why}). ${again}`);
}
