import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { workInLanes } from '@lapse/runtime';
import { checkImportRules } from './import-rules.ts';
import type { Printer } from './print.ts';
import { runProgram } from './run-program.ts';
import type { Tally } from './vitest-reports.ts';

interface Check {
  readonly name: string;
  /** @returns what is wrong, for a person; empty when nothing is. And a few words about what was seen. */
  readonly run: (root: string, signal: AbortSignal) => Promise<{ faults: string; seen: string }>;
}

/** The longest first: types take as long as all others together. */
const checks: readonly Check[] = [
  {
    name: 'types',
    run: (root, signal) => tool('typescript/bin/tsc', ['-b', ...projects(root)])(root, signal),
  },
  { name: 'lint', run: tool('@biomejs/biome/bin/biome', ['check', '--error-on-warnings', '.']) },
  { name: 'import rules', run: importRules },
  { name: 'dead code', run: tool('knip/bin/knip.js', []) },
  { name: 'workspace', run: bin('sherif', []) },
];

/** Of two cores; the services start meanwhile, and mostly wait. */
const checksAtOnce = 2;

/** Types, lint, import rules, dead code, workspace: each counted as one. */
export async function runStaticChecks(root: string, print: Printer, signal: AbortSignal): Promise<Tally[]> {
  const tallies: Tally[] = [];
  await workInLanes(checks, checksAtOnce, async ({ name, run }) => {
    if (signal.aborted) return;
    const { faults } = await print.step(name, describe(name), () => run(root, signal));
    if (faults !== '') print.line(faults.trimEnd());
    tallies.push({ name, passed: faults ? 0 : 1, failed: faults ? 1 : 0, skipped: 0, faults: [] });
  });
  return tallies;
}

function describe(name: string): (result: { faults: string; seen: string }) => string {
  return ({ faults, seen }) =>
    `${name}${faults === '' ? ' ok' : ' FAILED'}${seen === '' ? '' : ` (${seen})`}`;
}

/** A tool that is a JavaScript file of a root dependency. */
function tool(file: string, args: readonly string[]): Check['run'] {
  return (root, signal) => run(root, process.execPath, [join(root, 'node_modules', file), ...args], signal);
}

/** A tool whose program is not JavaScript. */
function bin(name: string, args: readonly string[]): Check['run'] {
  return (root, signal) => run(root, join(root, 'node_modules', '.bin', name), args, signal);
}

async function run(root: string, command: string, args: readonly string[], signal: AbortSignal) {
  const { code, output } = await runProgram(command, args, { cwd: root, signal });
  return { faults: code === 0 ? '' : output || `exit code ${code}`, seen: '' };
}

async function importRules(root: string, signal: AbortSignal) {
  const { violations, unseen, filesSeen } = await checkImportRules(root, signal);
  const faults = [
    ...violations,
    ...unseen.map((file) => `not seen by the check: ${file}`),
    ...(filesSeen === 0 ? ['no source file was seen'] : []),
  ];
  return { faults: faults.join('\n'), seen: `${filesSeen} files seen` };
}

/** Sources and tests of every package: the root project covers sources alone. */
function projects(root: string): string[] {
  const tests = ['apps', 'packages', 'infra'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => join(folder, name, 'test')),
  );
  return ['.', ...tests.filter((folder) => existsSync(join(root, folder, 'tsconfig.json')))];
}
