import { expect, test } from 'vitest';
import { readSimulateArgs } from '../src/args.ts';

const { commands } = await import(new URL('../../help.mjs', import.meta.url).href);

test('one seed or a range, with or without a trace and some faults', () => {
  expect(readSimulateArgs(['--seed', '60', '--trace'])).toMatchObject({ from: 60, to: 60, trace: true });
  expect(readSimulateArgs(['--seeds=1..100'])).toMatchObject({ from: 1, to: 100, trace: false });
});

test.each([
  [[], '--seeds=FROM..TO'],
  [['--seed=x'], 'whole number'],
  [['--seeds=9..1'], 'the smaller first'],
  [['--seed=1', '--without=nonsense'], '--without takes'],
  [['--seed=1', '--off=nonsense'], '--off takes'],
  [['--bogus'], "Unknown option '--bogus'"],
])('%j is answered in words, not by a stack', (args, words) => {
  expect(readSimulateArgs(args)).toContain(words);
});

test('--help lists exactly the options that exist', () => {
  const listed = commands.simulate.options.map(([name]: [string]) => name.replace(/^--/, '').split('=')[0]);
  expect(listed.toSorted()).toEqual(['off', 'seed', 'seeds', 'trace', 'without']);
});
