import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
/** The numbered list of faults that every release survives. */
const casesMax = 28;

test('each of the 28 failure cases is a test whose title names it', () => {
  const named = new Set<number>();
  for (const file of listTests()) {
    // A title: `case 7: …`, `cases 2 and 12: …`, `… (case 9)`.
    for (const [, numbers = ''] of readFileSync(file, 'utf8').matchAll(/\bcases? ((?:\d+(?:, | and )?)+)/g)) {
      for (const number of numbers.match(/\d+/g) ?? []) named.add(Number(number));
    }
  }
  const missing = Array.from({ length: casesMax }, (_, index) => index + 1).filter(
    (each) => !named.has(each),
  );
  expect(missing).toEqual([]);
});

function listTests(): string[] {
  return ['apps', 'packages', 'infra'].flatMap((folder) =>
    readdirSync(join(root, folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) => listFiles(join(root, folder, name, 'test'))),
  );
}

function listFiles(dir: string): string[] {
  try {
    return readdirSync(dir, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => join(dir, name));
  } catch {
    // A package without tests.
    return [];
  }
}
