import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkImportRules } from '../src/import-rules.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** A small work tree of its own with the real rules, in which one forbidden thing after another is tried. */
let tree = '';

beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), 'lapse-imports-'));
  for (const file of ['.dependency-cruiser.cjs', 'tsconfig.base.json', 'package.json']) {
    cpSync(join(root, file), join(tree, file));
  }
  mkdirSync(join(tree, 'infra'));
  mkdirSync(join(tree, 'node_modules'));
  for (const name of ['dependency-cruiser', 'typescript']) {
    symlinkSync(join(root, 'node_modules', name), join(tree, 'node_modules', name));
  }
  for (const name of ['ioredis', 'knex', 'rocketmq-client-nodejs']) {
    write(`node_modules/${name}/package.json`, `{ "name": "${name}", "main": "index.js" }`);
    write(`node_modules/${name}/index.js`, 'module.exports = {};');
  }
  write('packages/stock/package.json', '{ "name": "@lapse/stock", "dependencies": { "ioredis": "1.0.0" } }');
  write('packages/contracts/src/index.ts', "export const word = 'order';\n");
  write(
    'packages/stock/src/index.ts',
    "import Redis from 'ioredis';\nexport const open = () => new Redis();\n",
  );
  write(
    'packages/order-repository/src/index.ts',
    "import '../../contracts/src/index.ts';\nexport const sql = 1;\n",
  );
  write('packages/testing/src/index.ts', 'export const kit = 1;\n');
  write(
    'packages/operations/src/index.ts',
    "import '../../stock/src/index.ts';\nexport const operation = 1;\n",
  );
  write('apps/closer/src/main.ts', "import '../../../packages/stock/src/index.ts';\n");
  write('apps/sweeper/src/main.ts', "import '../../../packages/stock/src/index.ts';\n");
});
afterAll(() => rmSync(tree, { recursive: true }));

function write(file: string, text: string): void {
  mkdirSync(dirname(join(tree, file)), { recursive: true });
  writeFileSync(join(tree, file), text);
}

/** Each in a file of its own: the rule, the file, and the import that it forbids. */
const forbidden = [
  ['apps-apart', 'apps/closer/src/a.ts', "import '../../sweeper/src/main.ts';"],
  ['features-apart', 'packages/stock/src/b.ts', "import '../../order-repository/src/index.ts';"],
  ['joins-above-features', 'packages/operations/src/n.ts', "import '../../testing/src/index.ts';"],
  ['features-apart', 'packages/stock/src/o.ts', "import '../../operations/src/index.ts';"],
  ['packages-below-apps', 'packages/stock/src/c.ts', "import '../../../apps/closer/src/main.ts';"],
  ['contracts-at-the-bottom', 'packages/contracts/src/d.ts', "import '../../stock/src/index.ts';"],
  ['redis-in-stock', 'apps/closer/src/e.ts', "import 'ioredis';"],
  ['sql-in-order-repository', 'packages/stock/src/f.ts', "import 'knex';"],
  ['broker-in-messaging', 'apps/closer/src/g.ts', "import 'rocketmq-client-nodejs';"],
  ['no-undeclared-dependency', 'packages/stock/src/h.ts', "import 'knex';"],
  ['not-unresolvable', 'apps/closer/src/i.ts', "import './nowhere.ts';"],
  ['no-circular', 'packages/stock/src/j.ts', "import './j.ts';"],
  ['no-orphans', 'apps/closer/src/l.ts', ''],
  // A type alone is an import as well.
  [
    'features-apart',
    'packages/stock/src/m.ts',
    "import type { sql } from '../../order-repository/src/index.ts';",
  ],
] as const;

describe('import rules', () => {
  test('pass on a tree that keeps them, and see every source file', async () => {
    expect(await checkImportRules(tree)).toEqual({ violations: [], unseen: [], filesSeen: 7 });
  });

  describe('catch', () => {
    let violations: readonly string[] = [];
    beforeAll(async () => {
      for (const [, file, text] of forbidden) write(file, `${text}\nexport const x = 1;\n`);
      violations = (await checkImportRules(tree)).violations;
      for (const [, file] of forbidden) rmSync(join(tree, file));
    });

    test.each(forbidden)('%s: %s', (rule, file) => {
      expect(violations).toContainEqual(expect.stringContaining(`${rule}: ${file} ->`));
    });
  });
});
