import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { composeFiles, trialFile } from './check-compose.ts';
import { readCompose } from './read-compose.ts';

const ignorePath = 'infra/docker/Dockerfile.dockerignore';

/**
 * `COPY . .` takes everything that is not excluded, and the secrets of a small shop lie in this folder before its images
 * are built: they would be in the builder's cache, and in a remote builder's.
 */
export function checkBuildContext(
  root: string,
  ignored = readFileSync(join(root, ignorePath), 'utf8'),
): string[] {
  const lines = ignored.split('\n').map((line) => line.trim());
  const folders = [composeFiles[0], trialFile].flatMap((path) =>
    Object.values(readCompose(join(root, path)).secrets ?? {}).map(({ file = '' }) =>
      dirname(join(dirname(path), file)),
    ),
  );
  return [
    ...[...new Set(folders)]
      .filter((folder) => !lines.includes(folder))
      .map((folder) => `${ignorePath} must exclude ${folder}, where secrets are`),
    ...lines.filter((line) => line.startsWith('!')).map((line) => `${ignorePath} takes back in: ${line}`),
  ];
}
