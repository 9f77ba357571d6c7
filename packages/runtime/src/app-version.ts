import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const versionLengthMax = 64;
/** What stands in a version of npm, and in a column of ASCII. */
const plain = /^[\x21-\x7e]+$/;

/**
 * The version in the package.json above the folder of the running script: `dist/main.js` in production, `src/main.ts`
 * in development. `unknown` where there is none: nothing depends on it but the eyes of an operator.
 */
export function appVersion(script: string | undefined = process.argv[1]): string {
  try {
    const text = readFileSync(join(dirname(script ?? ''), '..', 'package.json'), 'utf8');
    const { version } = JSON.parse(text) as { version?: unknown };
    return typeof version === 'string' && plain.test(version)
      ? version.slice(0, versionLengthMax)
      : 'unknown';
  } catch {
    return 'unknown';
  }
}
