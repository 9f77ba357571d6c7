import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** Set by `npm test`: where every process that a test starts leaves its output, and the secrets it was given. */
const logFolder = process.env.LAPSE_TEST_LOGS;

/** Settings whose value must never be seen again. */
const secretName = /(SECRET|PASSWORD|PRIVATE|_KEY|TOKEN)(_|$)/;

/**
 * Keep what a test's process writes, so that the end of `npm test` can look for secrets in it. Also for harnesses
 * that start processes by themselves. Does nothing in a run of a single file.
 */
export function keepLog(name: string, chunk: string): void {
  if (logFolder === undefined) return;
  mkdirSync(logFolder, { recursive: true });
  appendFileSync(join(logFolder, `${name}.log`), chunk);
}

/** Note the secrets of a process's environment: these very values are looked for. */
export function keepSecrets(env: Readonly<Record<string, string | undefined>>): void {
  if (logFolder === undefined) return;
  const values = Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const password = URL.canParse(value) ? decodeURIComponent(new URL(value).password) : '';
    return [...(secretName.test(name) ? [value] : []), ...(password === '' ? [] : [password])];
  });
  if (values.length === 0) return;
  mkdirSync(logFolder, { recursive: true });
  appendFileSync(
    join(logFolder, 'known-secrets.jsonl'),
    values.map((value) => `${JSON.stringify(value)}\n`).join(''),
  );
}
