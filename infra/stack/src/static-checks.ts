import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkImportRules } from './import-rules.ts';
import type { Printer } from './print.ts';
import { runProgram } from './run-program.ts';
import type { Tally } from './vitest-reports.ts';

interface Check {
  readonly name: string;
  /** @returns what is wrong, for a person; empty when nothing is. And a few words about what was seen. */
  readonly run: (root: string, signal: AbortSignal) => Promise<{ faults: string; seen: string }>;
}

const checks: readonly Check[] = [
  { name: 'lint', run: tool('@biomejs/biome/bin/biome', ['check', '--error-on-warnings', '.']) },
  {
    name: 'types',
    run: (root, signal) => tool('typescript/bin/tsc', ['-b', ...projects(root)])(root, signal),
  },
  { name: 'import rules', run: importRules },
  { name: 'dead code', run: tool('knip/bin/knip.js', []) },
  { name: 'workspace', run: bin('sherif', []) },
];

/** Lint, types, import rules, dead code, workspace: one after the other, each counted as one. */
export async function runStaticChecks(root: string, print: Printer, signal: AbortSignal): Promise<Tally[]> {
  const tallies: Tally[] = [];
  for (const { name, run } of checks) {
    if (signal.aborted) break;
    const { faults } = await print.step(name, describe(name), () => run(root, signal));
    if (faults !== '') print.line(faults.trimEnd());
    tallies.push({ name, passed: faults ? 0 : 1, failed: faults ? 1 : 0, skipped: 0, faults: [] });
  }
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
