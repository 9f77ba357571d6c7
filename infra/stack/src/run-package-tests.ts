import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from './args.ts';
import { runProgram } from './run-program.ts';
import { clearSummaries, readExitCodes } from './turbo-summary.ts';
import { countReport, failedAnyway, type Tally } from './vitest-reports.ts';

export interface PackageTests {
  readonly root: string;
  /** Name of the one package wanted; null: all. */
  readonly only: string | null;
  readonly concurrency: number;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

interface TestedPackage {
  readonly name: string;
  readonly report: string;
  /** Its tests need the machine for themselves, and run after all others. */
  readonly alone: boolean;
}

/**
 * Run the tests of the packages through turbo and count vitest's reports; those that say `lapse.testAlone` in their
 * package.json come last, one at a time. The numbers are what the
 * reports say, never what was printed; old reports are deleted first, so that none can stand in for
 * a run that did not happen. turbo's exit code counts as well: an unhandled error leaves a report
 * in which every test passed.
 */
export async function runPackageTests({
  root,
  only,
  concurrency,
  env,
  signal,
}: PackageTests): Promise<Tally[]> {
  const packages = listTestedPackages(root).filter(({ name }) => only === null || name === only);
  for (const { report } of packages) rmSync(report, { force: true });
  const tallies: Tally[] = [];
  for (const group of [packages.filter(({ alone }) => !alone), packages.filter(({ alone }) => alone)]) {
    if (group.length > 0 && !signal.aborted) {
      tallies.push(...(await runTurbo(group, { root, concurrency, env, signal })));
    }
  }
  return tallies;
}

async function runTurbo(
  packages: readonly TestedPackage[],
  { root, concurrency, env, signal }: Omit<PackageTests, 'only'>,
): Promise<Tally[]> {
  clearSummaries(root);
  const { code, output } = await runProgram(
    join(root, 'node_modules', '.bin', 'turbo'),
    [
      'run',
      'test',
      '--cache=local:,remote:',
      '--continue',
      '--log-order=grouped',
      '--summarize',
      `--concurrency=${packages.some(({ alone }) => alone) ? 1 : concurrency}`,
      ...(process.stdout.isTTY ? [] : ['--no-color']),
      ...packages.map(({ name }) => `--filter=${name}`),
    ],
    { cwd: root, env, inherit: true, signal },
  );
  const exitCodes = readExitCodes(root);
  const tallies = packages.map(({ name, report }) =>
    failedAnyway(countReport(name, report), exitCodes.get(`${name}#test`)),
  );
  if (code !== 0 && tallies.every(({ failed }) => failed === 0)) {
    const why = `exit code ${code} though every report is clean ${output}`.trim();
    tallies.push({ name: 'turbo', passed: 0, failed: 1, skipped: 0, faults: [why] });
  }
  return tallies;
}

/** @throws {UsageError} with the names that there are, when no package has this one. */
export function requirePackage(root: string, only: string | null): void {
  const names = listTestedPackages(root).map(({ name }) => name);
  if (only === null || names.includes(only)) return;
  throw new UsageError(`--only=${only} is no package with tests: one of ${names.sort().join(', ')}.`);
}

/** Every workspace package with a `test` script. */
function listTestedPackages(root: string): TestedPackage[] {
  return ['packages', 'apps', 'infra'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .map((name) => join(root, folder, name))
      .filter((dir) => existsSync(join(dir, 'package.json')))
      .map((dir) => ({ dir, manifest: JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) }))
      .filter(({ manifest }) => manifest.scripts?.test !== undefined)
      .map(({ dir, manifest }) => ({
        name: String(manifest.name),
        report: join(dir, 'test-results', 'vitest.json'),
        alone: manifest.lapse?.testAlone === true,
      })),
  );
}
