import { appendFileSync, createReadStream, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import type { Tally } from './vitest-reports.ts';

/** Shorter values would be found by chance. */
const secretLengthMin = 12;
const faultsMax = 20;

/** What looks like a secret, whoever made it up. The text after `hidden` is what our own log puts there. */
const shapes: readonly (readonly [string, RegExp])[] = [
  ['a signing secret', /whsec_[A-Za-z0-9+/]{32}/],
  ['a signed token', /eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{20,}/],
  ['a key of a payment provider', /\b[sr]k_(live|test)_\w{16}/],
  ['a password in an address', /:\/\/[^\s:@/"\\]{0,64}:(?!\[hidden\]|password@)[^\s/"\\@:]{1,128}@/],
  ['an Authorization header', /"authorization":"(?!\[hidden\])/i],
];

export interface LogFolders {
  /** Where the tests' processes left their output, and `known-secrets.jsonl`. */
  readonly logs: string;
  /** Further files: the output of the test runs, the services' logs. */
  readonly files: readonly string[];
  readonly root: string;
}

/**
 * Read every line that the test run's processes wrote, and look for the secrets that they were given and for
 * what looks like one. A planted secret proves that the check sees: where it is not found, the check fails.
 */
export async function checkLogs({ logs, files, root }: LogFolders): Promise<Tally> {
  const planted = plantSecret(logs);
  const secrets = readSecretValues(join(logs, 'known-secrets.jsonl'));
  const faults: string[] = [];
  let sawPlanted = false;
  let lines = 0;
  const all = [...listFiles(logs, '.log'), ...files.filter((file) => existsSync(file))];
  for (const file of all) {
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      lines += 1;
      const found = findSecret(line, secrets);
      if (found === undefined) continue;
      if (line.includes(planted)) sawPlanted = true;
      else faults.push(`${relative(root, file)} line ${lines}: ${found}`);
    }
  }
  if (!sawPlanted) faults.push('the check is blind: it did not find the secret planted for it');
  return {
    name: `no secret in ${lines} log lines`,
    passed: faults.length === 0 ? 1 : 0,
    failed: faults.length === 0 ? 0 : 1,
    skipped: 0,
    faults: faults.slice(0, faultsMax),
  };
}

/** @returns what kind of secret the line holds; never the secret itself. */
export function findSecret(line: string, secrets: readonly string[]): string | undefined {
  if (secrets.some((secret) => line.includes(secret))) return 'the value of a secret setting';
  return shapes.find(([, shape]) => shape.test(line))?.[0];
}

function plantSecret(logs: string): string {
  const planted = `planted-${process.pid}-${Date.now()}`;
  mkdirSync(logs, { recursive: true });
  appendFileSync(join(logs, 'known-secrets.jsonl'), `${JSON.stringify(planted)}\n`);
  appendFileSync(join(logs, 'planted.log'), `{"level":"info","jwt":"${planted}"}\n`);
  return planted;
}

function readSecretValues(file: string): string[] {
  const values = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => String(JSON.parse(line)));
  return [...new Set(values)].filter((value) => value.length >= secretLengthMin);
}

function listFiles(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
}
