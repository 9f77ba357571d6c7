import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type CommandTools, rootDir, runCommand, UsageError } from '@lapse/stack';
import { type AuditResult, audit } from './audit.ts';
import { checkLicences } from './check-licences.ts';
import { listComponents } from './list-components.ts';
import { makeSbom } from './make-sbom.ts';

/** `npm run check:supply`: the last line says what it came to. */
await runCommand(async (tools) => ((await run(process.argv.slice(2), tools)) ? 0 : 1));

async function run(args: readonly string[], { print, signal }: CommandTools): Promise<boolean> {
  const sbomDir = readSbomDir(args);
  const images = await print.step('packages', 'packages listed', () => listComponents(rootDir, signal));
  const faults = [...new Set([...images.values()].flatMap(checkLicences))];
  for (const fault of faults) print.line(`  ${fault}`);
  if (sbomDir !== undefined) {
    const { version } = JSON.parse(readFileSync(join(rootDir, 'package.json'), 'utf8')) as {
      readonly version: string;
    };
    mkdirSync(sbomDir, { recursive: true });
    for (const [app, components] of images) {
      writeFileSync(join(sbomDir, `lapse-${app}.cdx.json`), makeSbom(app, version, components));
    }
    print.line(`  bills of materials: ${sbomDir}`);
  }
  const audited = await print.step('audit', 'audit asked', () => audit(rootDir, signal));
  if (audited.kind === 'vulnerable') print.line(audited.report);
  if (audited.kind === 'unanswered')
    print.line(`  The registry did not say what is known to be faulty: ${audited.why}`);
  const packages = new Set([...images.values()].flat().map(({ name, version }) => `${name}@${version}`)).size;
  print.line(
    `supply: packages=${packages} licences=${faults.length === 0 ? 'ok' : 'FAILED'} audit=${wordFor(audited)}`,
  );
  return faults.length === 0 && audited.kind !== 'vulnerable';
}

function wordFor({ kind }: AuditResult): string {
  return { clean: 'ok', vulnerable: 'FAILED', unanswered: 'unanswered' }[kind];
}

/** @throws {UsageError} for any other argument. */
function readSbomDir(args: readonly string[]): string | undefined {
  const [first, ...rest] = args;
  if (first === undefined) return undefined;
  const dir = /^--sbom=(.+)$/.exec(first)?.[1];
  if (dir === undefined || rest.length > 0) throw new UsageError('Only --sbom=FOLDER is known.');
  return resolve(dir);
}
