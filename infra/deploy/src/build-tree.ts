import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DeployError } from './deploy-error.ts';
import { runCommand } from './run-command.ts';

export interface Tree {
  readonly dir: string;
  /** Of all its files, each counted once, in bytes. */
  readonly bytes: number;
  /** Packages in it, ours included. */
  readonly packages: number;
}

/** What no image needs, as pnpm names its folders. */
const developmentNames = /^(@lapse\+(testing|test-shop|local-services|stack)|typescript|vitest|vite|tsx)@/;

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/**
 * Write the production tree of one app, as its image holds it: what was compiled, and what the lockfile names for
 * production. The registry is asked only for what pnpm's store lacks, so right after an install it needs no network.
 * @param dir an absent folder outside of the repository, so that nothing is found in the folders above it.
 * @throws {DeployError} LAPSE_DEPLOY_TREE, when pnpm fails or a dependency of development is in it.
 */
export async function buildTree(root: string, app: string, dir: string, signal: AbortSignal): Promise<Tree> {
  const store = storeOf(root);
  const pnpm = join(root, 'node_modules', 'pnpm', 'bin', 'pnpm.cjs');
  await runCommand(
    'LAPSE_DEPLOY_TREE',
    process.execPath,
    [
      ...[
        pnpm,
        `--filter=@lapse/${app}`,
        '--config.inject-workspace-packages=true',
        '--reporter=append-only',
      ],
      ...['deploy', '--prod', '--prefer-offline', `--store-dir=${store}`, dir],
    ],
    { cwd: root, env: { ...process.env, CI: '1' }, signal },
  );
  const found = findDevelopment(dir);
  if (found.length > 0) {
    throw new DeployError(
      'LAPSE_DEPLOY_TREE',
      `The tree of ${app} holds what is for development: ${found.join(', ')}.`,
    );
  }
  return { dir, ...measure(dir) };
}

/** Where the install of this folder took its packages from: another home folder must not mean another store. */
function storeOf(root: string): string {
  const modules = readFileSync(join(root, 'node_modules', '.modules.yaml'), 'utf8');
  const store = /^\s*"?storeDir"?: *"?([^",\n]+)"?,?$/m.exec(modules)?.[1];
  if (store === undefined)
    throw new DeployError('LAPSE_DEPLOY_TREE', 'node_modules/.modules.yaml names no store.');
  return store;
}

/** Names of packages in the tree that only development wants. */
function findDevelopment(dir: string): string[] {
  const { dependencies = {}, devDependencies = {} } = JSON.parse(
    readFileSync(join(dir, 'package.json'), 'utf8'),
  ) as Manifest;
  const linked = Object.keys(devDependencies).filter(
    (name) => !(name in dependencies) && existsSync(join(dir, 'node_modules', name)),
  );
  // Whatever leads there: a package of ours that lists a tool as its own dependency.
  const tools = readdirSync(join(dir, 'node_modules', '.pnpm')).filter((name) => developmentNames.test(name));
  return [...linked, ...tools];
}

/** Synchronous: a promise for each of some ten thousand files costs more than all else here. */
function measure(dir: string): Pick<Tree, 'bytes' | 'packages'> {
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true });
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => lstatSync(join(parentPath, name)).size);
  const store = readdirSync(join(dir, 'node_modules', '.pnpm'), { withFileTypes: true });
  return {
    bytes: sizes.reduce((sum, size) => sum + size, 0),
    packages: store.filter((entry) => entry.isDirectory() && entry.name.includes('@')).length,
  };
}
