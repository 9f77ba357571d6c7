/**
 * What `npm start`, `npm test`, `npm run demo`, `npm run chaos`, `npm run simulate`, `npm run check:deploy`, `npm run check:supply` and `npm run lapse` call. Node's built-ins alone, because on a
 * fresh clone nothing else is there: install what is pinned when the stamp in node_modules is
 * not of this lockfile and this Node, compile, then become the command's own program (the same
 * process, so signals and the exit code need no passing on).
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { commands, helpText } from './help.mjs';

const nodeMin = [20, 19];
const root = fileURLToPath(new URL('..', import.meta.url));
const stampFile = join(root, 'node_modules', '.lapse-install');

const [command = 'start', ...args] = process.argv.slice(2);
// What the command line prints is data, for a pipe: steps are told beside it, and to a person alone.
const isData = command === 'lapse';
const told = isData ? process.stderr : process.stdout;
const onTerminal = told.isTTY === true && !process.env.NO_COLOR;
if (!(command in commands)) fail(`unknown command "${command}": one of ${Object.keys(commands).join(', ')}`);
if (!isData && (args.includes('--help') || args.includes('-h'))) {
  process.stdout.write(helpText(command));
  process.exit(0);
}
checkNode();
process.chdir(root);
// turbo and the checks look for pnpm on the PATH; npm puts it there, a direct call does not.
process.env.PATH = `${join(root, 'node_modules', '.bin')}:${process.env.PATH ?? ''}`;

await install();
await compile();
if (isData) findStack();
if (['start', 'test', 'check:deploy'].includes(command)) await buildPage();
const programs = {
  chaos: 'infra/chaos/dist/main.js',
  simulate: 'infra/simulation/dist/simulate.js',
  lapse: 'apps/cli/dist/main.js',
  'check:deploy': 'infra/deploy/dist/main.js',
  'check:supply': 'infra/deploy/dist/supply.js',
};
const program = programs[command] ?? `infra/stack/dist/${command}.js`;
process.argv = [process.argv[0], join(root, program), ...args];
await import(pathToFileURL(process.argv[1]).href);

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > nodeMin[0] || (major === nodeMin[0] && minor >= nodeMin[1])) return;
  fail(
    `Node ${process.versions.node} is too old: Lapse needs ${nodeMin.join('.')} or newer (https://nodejs.org/en/download).`,
  );
}

async function install() {
  const stamp = installStamp();
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const pnpm = packageManager.split('+')[0];
  // A run that is stopped half way must not look finished to the next one.
  rmSync(stampFile, { force: true });
  await step(`install packages (${pnpm}; the first time takes about a minute)`, 'packages installed', () =>
    run(
      'npx',
      ['--yes', pnpm, 'install', '--frozen-lockfile', '--config.confirmModulesPurge=false'],
      [
        'The install failed. It needs the npm registry (or a mirror set in .npmrc) the first time; after that',
        'it works offline. Run the same command again once the cause above is gone.',
      ],
    ),
  );
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  writeFileSync(stampFile, stamp);
}

/** Changes whenever an install could give another result: lockfile, manifests, Node, machine. */
function installStamp() {
  const hash = createHash('sha256').update(`${process.version} ${process.platform} ${process.arch}\n`);
  const manifests = ['apps', 'infra', 'packages'].flatMap((folder) =>
    readdirSync(join(root, folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(folder, entry.name, 'package.json')),
  );
  for (const file of ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests.sort()]) {
    if (existsSync(join(root, file))) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  }
  return `${hash.digest('hex')}\n`;
}

async function compile() {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  // `npm test` counts a type error as a failed check and goes on; tsc writes its output all the same.
  const goOn = () => command === 'test' && existsSync(join(root, 'infra/stack/dist/test.js'));
  await step('compile', 'compiled', () =>
    run(process.execPath, [tsc, '-b'], ['The sources do not compile; see above.'], goOn),
  );
}

/** The settings of this folder's `npm start`, unless the environment names stores itself. */
function findStack() {
  const file = join(root, '.lapse', 'dev.env');
  const isNamed = Object.keys(process.env).some((name) => /^LAPSE_(MYSQL|REDIS|ROCKETMQ)_/.test(name));
  if (isNamed || !existsSync(file)) return;
  for (const [, name, value] of readFileSync(file, 'utf8').matchAll(/^(LAPSE_\w+)='(.*)'$/gm)) {
    process.env[name] ??= value.replaceAll("'\\''", "'");
  }
}

/** The page of apps/console, where one of its files is newer than what was built. */
async function buildPage() {
  const app = join(root, 'apps', 'console');
  const built = join(app, 'dist', 'public', 'index.html');
  const sources = [
    join(app, 'vite.config.ts'),
    join(root, 'pnpm-lock.yaml'),
    ...readdirSync(join(app, 'page'), { recursive: true }).map((name) => join(app, 'page', name)),
  ];
  const isFresh =
    existsSync(built) && sources.every((file) => statSync(file).mtimeMs <= statSync(built).mtimeMs);
  if (isFresh) return;
  const vite = join(app, 'node_modules', 'vite', 'bin', 'vite.js');
  await step('build the page', 'page built', () =>
    run(
      process.execPath,
      [vite, 'build', '--config', join(app, 'vite.config.ts')],
      ['The page does not build; see above.'],
    ),
  );
}

/** Runs one program quietly. Its output is shown only when it fails, and then the process exits 1. */
function run(program, programArgs, advice, goOn = () => false) {
  return new Promise((resolve) => {
    const child = spawn(program, programArgs, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = [];
    const forward = (signal) => {
      child.kill(signal);
      process.exit(signal === 'SIGINT' ? 130 : 143);
    };
    process.once('SIGINT', forward).once('SIGTERM', forward);
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    child.once('error', (error) => fail(`${program} cannot be run: ${error.message}`));
    child.once('close', (code) => {
      process.off('SIGINT', forward).off('SIGTERM', forward);
      if (code === 0 || goOn()) return resolve();
      process.stderr.write(`\n${Buffer.concat(output)}`);
      fail(advice.join('\n'));
    });
  });
}

async function step(doing, done, task) {
  const startedAt = performance.now();
  if (onTerminal) told.write(`\x1b[2m  … ${doing}\x1b[22m`);
  await task();
  const seconds = `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
  if (onTerminal && isData) told.write('\r\x1b[K');
  else if (onTerminal) told.write(`\r\x1b[K\x1b[32m  ✓\x1b[39m ${done} \x1b[2m${seconds}\x1b[22m\n`);
  else if (!isData) told.write(`${done}: ${seconds}\n`);
}

function fail(message) {
  process.stderr.write(`\nlapse ${command}: ${message}\n`);
  process.exit(1);
}
