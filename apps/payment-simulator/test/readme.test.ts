import { readFileSync } from 'node:fs';
import { simulatorFaults } from '@lapse/contracts';
import { expect, it } from 'vitest';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

it('the README names every fault with its default, and no other', () => {
  const [, table = ''] = readme.split('| fault | default |');
  const named = [...table.matchAll(/^\| `(\w+)` \| `(\d+)` \|/gm)].map(([, fault, value]) => [
    fault,
    Number(value),
  ]);
  expect(named).toEqual(Object.entries(simulatorFaults.parse({})));
});
