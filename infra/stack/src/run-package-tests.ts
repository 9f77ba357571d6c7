import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { workInLanes } from '@lapse/runtime';
import { openTestGate } from './open-test-gate.ts';
import { runProgram } from './run-program.ts';
import { clearSummaries, readExitCodes } from './turbo-summary.ts';
import { UsageError } from './usage-error.ts';
import { countReport, failedAnyway, type Tally } from './vitest-reports.ts';

export interface PackageTests {
  readonly root: string;
  /** Name of the one package wanted; null: all. */
  readonly only: string | null;
  readonly concurrency: number;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** What a package says of its tests in its package.json, under `lapse`. */
interface TestHints {
  /**
   * `together`, unless said: several packages at once. `alone`: they need the machine for themselves, and come after all
   * others, one at a time. `beside`: nothing in them depends on time, so they take what all those leave idle.
   */
  readonly tests?: 'together' | 'alone' | 'beside';
  /** About how long they take: the longest begin first, so that none is left over at the end. 0 unless said. */
  readonly testSeconds?: number;
}

interface TestedPackage extends Required<TestHints> {
  readonly name: string;
  readonly report: string;
}

/**
 * Run the tests of the packages through turbo and count vitest's reports. The numbers are what the
 * reports say, never what was printed; old reports are deleted first, so that none can stand in for
 * a run that did not happen. turbo's exit code counts as well: an unhandled error leaves a report
 * in which every test passed.
 */
export async function runPackageTests(options: PackageTests): Promise<Tally[]> {
  const { root, only, concurrency } = options;
  const packages = listTestedPackages(root).filter(({ name }) => only === null || name === only);
  for (const { report } of packages) rmSync(report, { force: true });
  clearSummaries(root);
  const unexplained: Tally[] = [];
  const run = async (tested: TestedPackage): Promise<void> => {
    if (options.signal.aborted) return;
    const why = await runTurbo(tested, options);
    if (why !== undefined)
      unexplained.push({ name: 'turbo', passed: 0, failed: 1, skipped: 0, faults: [why] });
  };
  const among = (tests: TestHints['tests']) => packages.filter((tested) => tested.tests === tests);
  const pass = openTestGate(options.signal);
  const together = (tested: TestedPackage): Promise<void> => pass(tested.testSeconds, () => run(tested));
  await Promise.all([
    workInLanes(among('together'), concurrency, together).then(() => workInLanes(among('alone'), 1, run)),
    workInLanes(among('beside'), 1, run),
  ]);
  const exitCodes = readExitCodes(root);
  return [...packages.map((tested) => tallyOf(tested, exitCodes)), ...unexplained];
}

/** @returns what is wrong, when turbo failed although the report is clean. */
async function runTurbo(
  { name, report, tests }: TestedPackage,
  { root, env, signal }: PackageTests,
): Promise<string | undefined> {
  const args = [
    ...['run', 'test', `--filter=${name}`, '--cache=local:,remote:', '--log-order=grouped', '--summarize'],
    ...(process.stdout.isTTY ? [] : ['--no-color']),
  ];
  const { code, output } = await runProgram(join(root, 'node_modules', '.bin', 'turbo'), args, {
    cwd: root,
    env,
    inherit: true,
    givesWay: tests === 'beside',
    signal,
  });
  if (code === 0 || tallyOf({ name, report }, readExitCodes(root)).failed > 0) return undefined;
  return `exit code ${code} though the report of ${name} is clean ${output}`.trim();
}

function tallyOf(
  { name, report }: Pick<TestedPackage, 'name' | 'report'>,
  exitCodes: ReadonlyMap<string, number>,
): Tally {
  return failedAnyway(countReport(name, report), exitCodes.get(`${name}#test`));
}

/** @throws {UsageError} with the names that there are, when no package has this one. */
export function requirePackage(root: string, only: string | null): void {
  const names = listTestedPackages(root).map(({ name }) => name);
  if (only === null || names.includes(only)) return;
  throw new UsageError(`--only=${only} is no package with tests: one of ${names.sort().join(', ')}.`);
}

/** Every workspace package with a `test` script, the longest first. */
function listTestedPackages(root: string): TestedPackage[] {
  return ['packages', 'apps', 'infra']
    .flatMap((folder) =>
      readdirSync(join(root, folder))
        .map((name) => join(root, folder, name))
        .filter((dir) => existsSync(join(dir, 'package.json'))),
    )
    .flatMap((dir) => {
      const manifest = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
      if (manifest.scripts?.test === undefined) return [];
      const { tests = 'together', testSeconds = 0 }: TestHints = manifest.lapse ?? {};
      const report = join(dir, 'test-results', 'vitest.json');
      return [{ name: String(manifest.name), report, tests, testSeconds }];
    })
    .sort((a, b) => b.testSeconds - a.testSeconds);
}
