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
  write('apps/closer/src/main.ts', "import '../../../packages/stock/src/index.ts';\n");
  write('apps/sweeper/src/main.ts', "import '../../../packages/stock/src/index.ts';\n");
});
afterAll(() => rmSync(tree, { recursive: true }));

function write(file: string, text: string): void {
  mkdirSync(dirname(join(tree, file)), { recursive: true });
  writeFileSync(join(tree, file), text);
}

/** The rules that are broken once the file has this text. The file is taken away again. */
async function brokenBy(file: string, text: string): Promise<string[]> {
  write(file, text);
  try {
    const { violations } = await checkImportRules(tree);
    return violations.map((violation) => violation.split(':', 1)[0] ?? '');
  } finally {
    rmSync(join(tree, file));
  }
}

describe('import rules', () => {
  test('pass on a tree that keeps them, and see every source file', async () => {
    expect(await checkImportRules(tree)).toEqual({ violations: [], unseen: [], filesSeen: 5 });
  });

  test.each([
    ['apps-apart', 'apps/closer/src/x.ts', "import '../../sweeper/src/main.ts';"],
    ['features-apart', 'packages/stock/src/x.ts', "import '../../order-repository/src/index.ts';"],
    ['packages-below-apps', 'packages/stock/src/x.ts', "import '../../../apps/closer/src/main.ts';"],
    ['contracts-at-the-bottom', 'packages/contracts/src/x.ts', "import '../../stock/src/index.ts';"],
    ['redis-in-stock', 'apps/closer/src/x.ts', "import 'ioredis';"],
    ['sql-in-order-repository', 'packages/stock/src/x.ts', "import 'knex';"],
    ['broker-in-messaging', 'apps/closer/src/x.ts', "import 'rocketmq-client-nodejs';"],
    ['no-undeclared-dependency', 'packages/stock/src/x.ts', "import 'knex';"],
    ['not-unresolvable', 'apps/closer/src/x.ts', "import './nowhere.ts';"],
    ['no-circular', 'packages/stock/src/x.ts', "import './x.ts';\nimport './index.ts';"],
  ])('%s catches the import that it forbids', async (rule, file, text) => {
    expect(await brokenBy(file, `${text}\nexport const x = 1;\n`)).toContain(rule);
  });

  test('a type-only import is caught as well', async () => {
    const text =
      "import type { sql } from '../../order-repository/src/index.ts';\nexport type X = typeof sql;\n";
    expect(await brokenBy('packages/stock/src/x.ts', text)).toContain('features-apart');
  });
});
