import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { closingLine, countReport, failedAnyway } from '../src/vitest-reports.ts';

const dir = mkdtempSync(join(tmpdir(), 'lapse-reports-'));
afterAll(() => rmSync(dir, { recursive: true }));

const clean = { numTotalTests: 3, numPassedTests: 3, numFailedTests: 0, testResults: [] };

function report(content: unknown): string {
  const file = join(dir, `${Math.random()}.json`);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

describe('what counts as failed', () => {
  test('a clean report is counted as it stands', () => {
    expect(countReport('a', report(clean))).toMatchObject({ passed: 3, failed: 0, skipped: 0, faults: [] });
  });

  test('a missing report fails', () => {
    expect(countReport('a', join(dir, 'absent.json'))).toMatchObject({ passed: 0, failed: 1 });
  });

  test('a report cut short fails', () => {
    expect(countReport('a', report('{"numTotalTests": 3'))).toMatchObject({ passed: 0, failed: 1 });
  });

  test('zero tests fail', () => {
    const empty = { ...clean, numTotalTests: 0, numPassedTests: 0 };
    expect(countReport('a', report(empty))).toMatchObject({ failed: 1, faults: ['no test was run'] });
  });

  test('a package whose every test is skipped fails', () => {
    const skipped = { ...clean, numPassedTests: 0 };
    expect(countReport('a', report(skipped))).toMatchObject({ failed: 1, skipped: 3 });
  });

  test.each([
    ['before its first test', []],
    ['in a hook', [{ status: 'skipped' }, { status: 'passed' }]],
  ])('a file that breaks %s fails, though vitest counts no failed test', (_, assertionResults) => {
    const file = { name: 'x.test.ts', status: 'failed', message: 'boom\nat', assertionResults };
    expect(countReport('a', report({ ...clean, testResults: [file] }))).toMatchObject({
      passed: 3,
      failed: 1,
      faults: ['x.test.ts: boom'],
    });
  });

  test('a failed test is counted once, not again for its file, and named with its reason', () => {
    const file = {
      name: 'x.test.ts',
      status: 'failed',
      message: '',
      assertionResults: [
        { status: 'failed', fullName: 'case 5: it pays', failureMessages: ['Error: no money\nat x'] },
      ],
    };
    const failing = { ...clean, numPassedTests: 2, numFailedTests: 1, testResults: [file] };
    expect(countReport('a', report(failing))).toMatchObject({
      passed: 2,
      failed: 1,
      faults: [],
      failures: ['x.test.ts > case 5: it pays: Error: no money'],
    });
  });
});

test('an exit code that is not 0 fails a clean report, and counts a failed one once', () => {
  const tally = countReport('a', report(clean));
  expect(failedAnyway(tally, 0).failed).toBe(0);
  expect(failedAnyway(tally, undefined).failed).toBe(0);
  expect(failedAnyway(tally, 1)).toMatchObject({ passed: 3, failed: 1 });
  expect(failedAnyway({ ...tally, failed: 2 }, 1).failed).toBe(2);
});

describe('the closing line', () => {
  const tally = { name: 'a', skipped: 0, faults: [] };

  test('sums passed and failed, and fails for one failed test', () => {
    const tallies = [
      { ...tally, passed: 2, failed: 0 },
      { ...tally, passed: 3, failed: 1 },
    ];
    expect(closingLine(tallies)).toEqual({ line: '5 passed, 1 failed', ok: false });
  });

  test('is a success only when something passed', () => {
    expect(closingLine([{ ...tally, passed: 2, failed: 0 }])).toEqual({
      line: '2 passed, 0 failed',
      ok: true,
    });
    expect(closingLine([]).ok).toBe(false);
    expect(closingLine([{ ...tally, passed: 0, failed: 0 }]).ok).toBe(false);
  });
});
