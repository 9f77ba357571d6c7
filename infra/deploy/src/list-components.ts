import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DeployError } from './deploy-error.ts';
import { images } from './images.ts';
import { runCommand } from './run-command.ts';

/** A package of somebody else in an image. */
export interface Component {
  readonly name: string;
  readonly version: string;
  /** As its package.json says it: an SPDX expression, or anything else. Empty when it says nothing. */
  readonly licence: string;
  readonly description: string;
}

interface Listed {
  readonly from?: string;
  readonly version: string;
  readonly path?: string;
  readonly dependencies?: Dependencies;
}

type Dependencies = Readonly<Record<string, Listed>>;

interface PackageJson {
  readonly license?: string | { readonly type?: string };
  readonly licenses?: readonly { readonly type?: string }[];
  readonly description?: string;
}

/**
 * What each image holds of others' packages, by app and sorted by name, as the installed lockfile has it. Needs no network.
 * @throws {DeployError} LAPSE_DEPLOY_SUPPLY when pnpm fails, or knows nothing of an image.
 */
export async function listComponents(
  root: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly Component[]>> {
  const pnpm = join(root, 'node_modules', 'pnpm', 'bin', 'pnpm.cjs');
  const filters = images.map(({ app }) => `--filter=@lapse/${app}`);
  const args = [pnpm, ...filters, 'list', '--prod', '--json', '--depth=Infinity'];
  const text = await runCommand('LAPSE_DEPLOY_SUPPLY', process.execPath, args, { cwd: root, signal });
  const projects = JSON.parse(text) as readonly (Listed & { readonly name: string })[];
  const below = new Map<string, Dependencies>();
  for (const { dependencies } of projects) index(dependencies, below);
  return new Map(
    images.map(({ app }) => {
      const project = projects.find(({ name }) => name === `@lapse/${app}`);
      const found = new Map<string, Component>();
      collect(project?.dependencies, below, found, new Set());
      if (found.size === 0) throw new DeployError('LAPSE_DEPLOY_SUPPLY', `pnpm lists nothing for ${app}.`);
      return [
        app,
        [...found.values()].sort((a, b) => compare(a.name, b.name) || compare(a.version, b.version)),
      ];
    }),
  );
}

/** pnpm says once what is below a package, wherever it meets it first. */
function index(dependencies: Dependencies | undefined, below: Map<string, Dependencies>): void {
  for (const { path, dependencies: those } of Object.values(dependencies ?? {})) {
    if (path !== undefined && those !== undefined && !below.has(path)) below.set(path, those);
    index(those, below);
  }
}

function collect(
  dependencies: Dependencies | undefined,
  below: ReadonlyMap<string, Dependencies>,
  found: Map<string, Component>,
  seen: Set<string>,
): void {
  for (const [alias, { from = alias, version, path }] of Object.entries(dependencies ?? {})) {
    // What is built for other machines than this one is in the lockfile, and not in the image.
    if (path === undefined || seen.has(path) || !existsSync(path)) continue;
    seen.add(path);
    // Ours are linked; what they bring is below them.
    if (!version.startsWith('link:')) found.set(`${from}@${version}`, read(from, version, path));
    collect(below.get(path), below, found, seen);
  }
}

function read(name: string, version: string, path: string): Component {
  const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as PackageJson;
  const { license, licenses, description = '' } = manifest;
  const said = typeof license === 'string' ? license : (license?.type ?? licenses?.[0]?.type ?? '');
  return { name, version, licence: said, description };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
