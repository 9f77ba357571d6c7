import { describe, expect, test } from 'vitest';
import { parseChaosArgs } from '../src/args.ts';

// Plain JavaScript on purpose: it runs before anything is installed, so there is nothing to type it with.
const { commands, helpText } = await import(new URL('../../help.mjs', import.meta.url).href);

describe('arguments of npm run chaos', () => {
  test('two minutes and a random seed, unless told otherwise', () => {
    const { minutes, seed, keep } = parseChaosArgs([]);
    expect({ minutes, keep }).toEqual({ minutes: 2, keep: false });
    expect(Number.isInteger(seed)).toBe(true);
    expect(parseChaosArgs(['--minutes', '20', '--seed=7', '--keep'])).toEqual({
      minutes: 20,
      seed: 7,
      keep: true,
    });
  });

  test.each([
    [['--minutes=0'], 'from 0.2 to 720'],
    [['--minutes=soon'], 'from 0.2 to 720'],
    [['--seed=1.5'], 'whole number'],
    [['--sead=1'], "Unknown option '--sead'"],
    [['20'], 'Unexpected argument'],
  ])('%s is refused with a word on what would work', (args, message) => {
    expect(() => parseChaosArgs(args)).toThrow(message);
  });

  test('--help lists exactly the options that exist', () => {
    const listed = commands.chaos.options.map(([name]: [string]) => name.replace(/^--/, '').split('=')[0]);
    expect(listed.toSorted()).toEqual(['keep', 'minutes', 'seed']);
    for (const name of listed) expect(helpText('chaos')).toContain(`--${name}`);
  });
});
