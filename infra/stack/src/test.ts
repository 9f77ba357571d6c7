import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseTestArgs, type TestArgs } from './args.ts';
import { checkLogs } from './check-logs.ts';
import { explain } from './explain.ts';
import { runMarker } from './find-leaks.ts';
import { rootDir } from './folders.ts';
import { countLeaks } from './leak-tallies.ts';
import { serviceLogs } from './link-logs.ts';
import { type CommandTools, runCommand } from './run-command.ts';
import { requirePackage, runPackageTests } from './run-package-tests.ts';
import { runProgram } from './run-program.ts';
import { runStaticChecks } from './static-checks.ts';
import { openTestServices } from './test-services.ts';
import { closingLine, type Tally } from './vitest-reports.ts';

/** Emptied with the rest of the folder at the start of a run. */
const testLogs = join(rootDir, '.lapse-test', 'logs');

/** `npm test`: every check and every test; the last line says what it came to. */
await runCommand(async (tools) => {
  const { print } = tools;
  rmSync(testLogs, { recursive: true, force: true });
  const startedAt = performance.now();
  const tallies = await collect(tools).catch((error: unknown) => {
    print.line(`\n${explain(error)}`);
    return [{ name: 'set-up', passed: 0, failed: 1, skipped: 0, faults: [] }];
  });
  print.end();
  if (tools.signal.aborted) return 1;
  for (const tally of tallies) print.line(describe(tally));
  const { line, ok } = closingLine(tallies);
  print.line(`\ntook ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  print.line(line);
  return ok ? 0 : 1;
});

async function collect(tools: CommandTools): Promise<Tally[]> {
  const { print, signal } = tools;
  const args = parseTestArgs(process.argv.slice(2));
  // Before anything starts: it takes most of a minute.
  requirePackage(rootDir, args.only);
  // Checks need a processor, services mostly wait: side by side. One package alone is for quick rounds.
  const checks = args.only === null ? runStaticChecks(rootDir, print, signal) : Promise.resolve([]);
  // Looked at below, after the tests; a failure meanwhile must not count as unhandled.
  checks.catch(() => {});
  const tests = await testPackages(args, checks, tools);
  return [...(await checks), ...tests];
}

async function testPackages(
  args: TestArgs,
  checks: Promise<Tally[]>,
  { print, signal, onKill }: CommandTools,
): Promise<Tally[]> {
  const services = await openTestServices(print, args.keep, signal);
  onKill(services.kill);
  try {
    // Timing tests must not share two processors with a compiler.
    await checks;
    if (signal.aborted) return [];
    const runId = randomUUID();
    const tallies = await runPackageTests({
      root: rootDir,
      only: args.only,
      concurrency: args.concurrency,
      env: {
        ...testEnv(),
        ...services.env,
        [runMarker]: runId,
        LAPSE_TEST_LOGS: testLogs,
        LAPSE_TEST_COMPILED: '1',
        ...(args.only === null && { LAPSE_TEST_CRASH_PART: String(await crashPart()) }),
      },
      signal: signal,
    });
    return [...tallies, ...(await countLeaks(runId, services.ports)), ...(await readLogs())];
  } finally {
    await print.step('stopping services', 'services stopped', services.close);
  }
}

/**
 * Which third of the crash points a whole run takes: another one with each commit, so that three in a row take all, and
 * one commit always the same. The tests of that package alone take all.
 */
async function crashPart(): Promise<number> {
  const { output } = await runProgram('git', ['rev-list', '--count', 'HEAD'], { cwd: rootDir });
  return ((Number(output) || 0) % 3) + 1;
}

/** Output of the processes that tests start; of the tests themselves, and of the services. */
function readLogs(): Promise<Tally[]> {
  const tests = ['packages', 'apps', 'infra'].flatMap((folder) =>
    readdirSync(join(rootDir, folder)).map((name) => join(rootDir, folder, name, '.turbo', 'turbo-test.log')),
  );
  const services = Object.values(serviceLogs).map((file) => join(rootDir, '.lapse-test', file));
  return checkLogs({ logs: testLogs, files: [...tests, ...services], root: rootDir }).then((tally) => [
    tally,
  ]);
}

/** Without a person's own LAPSE_ settings: a log level or an address must not change what is tested. */
function testEnv(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('LAPSE_') || name === 'LAPSE_CACHE_DIR',
  );
  return {
    ...Object.fromEntries(kept),
    ...(process.stdout.isTTY ? {} : { NO_COLOR: '1' }),
    TURBO_TELEMETRY_DISABLED: '1',
    TURBO_NO_UPDATE_NOTIFIER: '1',
  };
}

function describe({ name, passed, failed, skipped, faults, failures = [] }: Tally): string {
  const numbers = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  return [`  ${name.padEnd(26)}${numbers}`, ...[...failures, ...faults].map((why) => `    ${why}`)].join(
    '\n',
  );
}
