import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** What one package's tests, or one check, came to. */
export interface Tally {
  readonly name: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Why something counts as failed that the numbers alone do not show. */
  readonly faults: readonly string[];
  /** Each failed test by file and name, with the first line of why: a long log is cut before it says so. */
  readonly failures?: readonly string[];
}

/** The parts of vitest's JSON report that are read; everything else is ignored. */
interface VitestReport {
  readonly numTotalTests: number;
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly status?: string;
      readonly fullName?: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

/**
 * Count one package's vitest report. Anything that is not plainly a success fails: a missing or
 * unreadable report, no tests at all, and a file that failed outside its tests (an import, a hook),
 * which vitest leaves out of its own number of failed tests.
 */
export function countReport(name: string, file: string): Tally {
  let report: VitestReport;
  try {
    report = JSON.parse(readFileSync(file, 'utf8')) as VitestReport;
  } catch {
    return { name, passed: 0, failed: 1, skipped: 0, faults: ['no test report was written'] };
  }
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((assertion) => assertion.status === 'failed'),
  );
  const faults = brokenFiles.map((result) => `${result.name}: ${firstLine(result.message)}`);
  if (report.numTotalTests === 0 && faults.length === 0) faults.push('no test was run');
  if (report.numPassedTests + report.numFailedTests === 0 && report.numTotalTests > 0) {
    faults.push('every test was skipped');
  }
  return {
    name,
    passed: report.numPassedTests,
    failed: report.numFailedTests + faults.length,
    skipped: report.numTotalTests - report.numPassedTests - report.numFailedTests,
    faults,
    failures: report.testResults.flatMap(({ name: file, assertionResults }) =>
      assertionResults
        .filter(({ status }) => status === 'failed')
        .map(
          ({ fullName, failureMessages }) =>
            `${basename(file)} > ${fullName ?? 'a test'}: ${firstLine(failureMessages?.[0])}`,
        ),
    ),
  };
}

/**
 * An unhandled error leaves a report in which every test passed, so the exit code counts as well.
 * @param exitCode undefined when it is not known: then the report alone decides.
 */
export function failedAnyway(tally: Tally, exitCode: number | undefined): Tally {
  if (exitCode === undefined || exitCode === 0 || tally.failed > 0) return tally;
  const fault = `exit code ${exitCode} though the report is clean: an unhandled error, or no test file`;
  return { ...tally, failed: 1, faults: [...tally.faults, fault] };
}

/** The sum, and the exact closing line of `npm test`. Nothing at all is a failure as well. */
export function closingLine(tallies: readonly Tally[]): { readonly line: string; readonly ok: boolean } {
  const passed = tallies.reduce((sum, tally) => sum + tally.passed, 0);
  const failed = tallies.reduce((sum, tally) => sum + tally.failed, 0) + (tallies.length === 0 ? 1 : 0);
  return { line: `${passed} passed, ${failed} failed`, ok: failed === 0 && passed > 0 };
}

function firstLine(text = 'it does not say why'): string {
  return text.split('\n', 1)[0]?.trim() || 'it does not say why';
}
