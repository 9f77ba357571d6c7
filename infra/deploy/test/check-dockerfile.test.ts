import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootDir } from '@lapse/stack';
import { describe, expect, test } from 'vitest';
import { checkBuildContext } from '../src/check-build-context.ts';
import { checkDockerfile, dockerfilePath } from '../src/check-dockerfile.ts';
import { images } from '../src/images.ts';

const text = readFileSync(join(rootDir, dockerfilePath), 'utf8');

/** What the check says of the Dockerfile with one of its lines changed. */
function faultsWith(line: string | RegExp, other: string): string {
  const changed = text.replace(line, other);
  expect(changed, `"${line}" stands in the Dockerfile`).not.toBe(text);
  return checkDockerfile(rootDir, changed).join('\n');
}

test('the Dockerfile has nothing that its check complains of', () => {
  expect(checkDockerfile(rootDir)).toEqual([]);
});

test('every app that runs in production has an image, and no other', () => {
  // Tools of the repository: they judge and measure, and are started from it.
  const tools = ['bench', 'demo'];
  const apps = readdirSync(join(rootDir, 'apps')).filter((name) =>
    existsSync(join(rootDir, 'apps', name, 'package.json')),
  );
  expect(images.map(({ app }) => app).sort()).toEqual(apps.filter((name) => !tools.includes(name)).sort());
});

describe('a change that would break the images is a fault', () => {
  test('a COPY whose source is not there', () => {
    expect(faultsWith('COPY infra/docker/healthcheck.mjs', 'COPY infra/docker/gone.mjs')).toContain(
      'infra/docker/gone.mjs, which does not exist',
    );
  });
  test('a COPY from a stage that is not there', () => {
    expect(faultsWith('COPY --from=built /tree', 'COPY --from=build /tree')).toContain(
      '"build", which is no stage',
    );
  });
  test('no USER, or root', () => {
    expect(faultsWith('USER 1000:1000\n', '')).toContain('leaves its images to root');
    expect(faultsWith('USER 1000:1000', 'USER root')).toContain('by number, and not root');
    expect(faultsWith('USER 1000:1000', 'USER 0')).toContain('by number, and not root');
  });
  test('a target that an image is built from, renamed', () => {
    expect(faultsWith('AS command', 'AS commands')).toContain('no stage "command"');
  });
  test('another turbo than the one that everything else is built with', () => {
    expect(faultsWith(/TURBO_VERSION=\S+/, 'TURBO_VERSION=1.0.0')).toContain('installs turbo 1.0.0');
  });
  test('another Node than everything is tested on, or other arguments for it', () => {
    const otherNode = faultsWith(/^ARG NODE_IMAGE=\S+/m, 'ARG NODE_IMAGE=node:22.1.0-bookworm-slim');
    for (const machine of ['x64', 'arm64']) {
      expect(otherNode).toContain(`has Node 22.1.0, the catalog's node-linux-${machine} is`);
    }
    expect(faultsWith('"--max-semi-space-size=32", ', '')).toContain('must start with ENTRYPOINT');
  });
  test('a line that is no instruction', () => {
    expect(faultsWith('WORKDIR /app', 'WORKDRI /app')).not.toBe('');
  });
});

test('secrets that would be copied into a build are a fault', () => {
  expect(checkBuildContext(rootDir)).toEqual([]);
  expect(checkBuildContext(rootDir, '**/dist\n')).toEqual([
    'infra/docker/Dockerfile.dockerignore must exclude infra/deploy/secrets, where secrets are',
  ]);
  expect(checkBuildContext(rootDir, 'infra/deploy/secrets\n!infra/deploy/secrets/jwt-secret')).toEqual([
    'infra/docker/Dockerfile.dockerignore takes back in: !infra/deploy/secrets/jwt-secret',
  ]);
});
