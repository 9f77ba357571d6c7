/**
 * Before every command of infra/run.sh. Node's built-ins alone, because on a fresh clone nothing else is there: install
 * what is pinned, when the stamp in node_modules is not of this lockfile and this machine.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commands, helpText } from './help.mjs';
import { args, command, fail, isData, root, run, step } from './steps.mjs';

/** To install and to start with; what runs then is the pinned one, see run.sh. */
const nodeMin = [20, 19];
/** As infra/run.sh knows it. */
const helpShownCode = 99;
const stampFile = join(root, 'node_modules', '.lapse-install');

if (!(command in commands)) fail(`unknown command "${command}": one of ${Object.keys(commands).join(', ')}`);
if (!isData && (args.includes('--help') || args.includes('-h'))) {
  process.stdout.write(helpText(command));
  process.exit(helpShownCode);
}
checkNode();
await install();

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

/** Changes whenever an install could give another result: lockfile, manifests, machine. */
function installStamp() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`);
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
