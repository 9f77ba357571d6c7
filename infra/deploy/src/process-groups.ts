import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GroupName } from '@lapse/runtime';
import ts from 'typescript';
import { DeployError } from './deploy-error.ts';

/** Settings that the commands of the schema job read; the others are read by those who look. */
const commandGroups: readonly GroupName[] = ['mysql', 'rocketmq'];

/**
 * The groups of settings that an app reads, out of its `main.ts`: the second argument of `startProcess`.
 * @throws {DeployError} LAPSE_DEPLOY_MANIFEST when they cannot be found there.
 */
export function groupsOf(root: string, app: string): readonly GroupName[] {
  if (app === 'cli') return commandGroups;
  const path = join('apps', app, 'src', 'main.ts');
  const file = ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.ES2022);
  const arrays = new Map<string, ts.ArrayLiteralExpression>();
  let found: ts.ArrayLiteralExpression | undefined;
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer) {
      const value = ts.isAsExpression(node.initializer) ? node.initializer.expression : node.initializer;
      if (ts.isArrayLiteralExpression(value)) arrays.set(node.name.text, value);
    }
    if (
      ts.isCallExpression(node) &&
      ts.isIdentifier(node.expression) &&
      node.expression.text === 'startProcess'
    ) {
      const groups = node.arguments[1];
      if (groups && ts.isArrayLiteralExpression(groups)) found = groups;
      if (groups && ts.isIdentifier(groups)) found = arrays.get(groups.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  if (found === undefined) {
    throw new DeployError('LAPSE_DEPLOY_MANIFEST', `${path} does not say which groups of settings it reads.`);
  }
  return found.elements.filter(ts.isStringLiteral).map(({ text }) => text as GroupName);
}
