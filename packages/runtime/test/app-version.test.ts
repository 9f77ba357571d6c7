import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { appVersion } from '../src/app-version.ts';

const root = mkdtempSync(join(tmpdir(), 'lapse-version-'));
mkdirSync(join(root, 'dist'));
const script = join(root, 'dist', 'main.js');
afterAll(() => rmSync(root, { recursive: true, force: true }));

test.each([
  ['{"version":"1.2.3"}', '1.2.3'],
  [JSON.stringify({ version: '9'.repeat(100) }), '9'.repeat(64)],
  ['{"version":"1 2"}', 'unknown'],
  ['{"version":7}', 'unknown'],
  ['{}', 'unknown'],
  ['not JSON', 'unknown'],
])('a package.json of %s has the version %s', (text, version) => {
  writeFileSync(join(root, 'package.json'), text);
  expect(appVersion(script)).toBe(version);
});

test('without a package.json the version is unknown', () => {
  expect(appVersion('/nowhere/at/all/main.js')).toBe('unknown');
  expect(appVersion('')).toEqual(expect.any(String));
});
