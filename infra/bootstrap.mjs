/**
 * What infra/run.sh becomes once everything is installed: compile, then the command's own program, in the same process.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { args, command, isData, root, run, step } from './steps.mjs';

process.chdir(root);
await compile();
if (isData) findStack();
if (['start', 'test', 'check:deploy'].includes(command)) await buildPage();
const programs = {
  chaos: 'infra/chaos/dist/main.js',
  cluster: 'infra/chaos/dist/cluster.js',
  outages: 'infra/chaos/dist/outages.js',
  drills: 'infra/chaos/dist/drills.js',
  simulate: 'infra/simulation/dist/simulate.js',
  lapse: 'apps/cli/dist/main.js',
  'bench:report': 'apps/bench/dist/write-report.js',
  'bench:scale': 'apps/bench/dist/plan-scale.js',
  'bench:year': 'apps/bench/dist/year/play-year.js',
  traces: 'infra/observability/dist/show-traces.js',
  readme: 'infra/stack/dist/readme-settings.js',
  'check:deploy': 'infra/deploy/dist/main.js',
  'check:supply': 'infra/deploy/dist/supply.js',
};
const program = programs[command] ?? `infra/stack/dist/${command}.js`;
process.argv = [process.argv[0], join(root, program), ...args];
await import(pathToFileURL(process.argv[1]).href);

async function compile() {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  // `npm test` counts a type error as a failed check and goes on; tsc writes its output all the same.
  const goOn = () => command === 'test' && existsSync(join(root, 'infra/stack/dist/test.js'));
  await step('compile (the first time takes about a minute)', 'compiled', () =>
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
