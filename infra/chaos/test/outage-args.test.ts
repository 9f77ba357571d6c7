import { describe, expect, test } from 'vitest';
import { nameOf } from '../src/outages/outage-case.ts';
import { parseOutageArgs } from '../src/outages/parse-outage-args.ts';

// Plain JavaScript on purpose: it runs before anything is installed, so there is nothing to type it with.
const { commands, helpText } = await import(new URL('../../help.mjs', import.meta.url).href);

const namesOf = (...args: string[]): string[] => parseOutageArgs(args).cases.map(nameOf);

describe('arguments of npm run outages', () => {
  test('each service, killed and cut off for 5 and for 60 s, and killed for 5 minutes', () => {
    const services = ['broker', 'mysql', 'redis'];
    const both = [5, 60].flatMap((s) =>
      services.flatMap((name) => [`${name}:${s}:kill`, `${name}:${s}:cut`]),
    );
    expect(namesOf()).toEqual([...both, ...services.map((name) => `${name}:300:kill`)]);
    expect(namesOf('--quick')).toEqual(both.slice(0, 6));
    expect(parseOutageArgs([])).toMatchObject({ json: null, keep: false });
  });

  test.each([
    [
      ['--only=redis', '--quick'],
      ['redis:5:kill', 'redis:5:cut'],
    ],
    [
      ['--only', 'mysql:60'],
      ['mysql:60:kill', 'mysql:60:cut'],
    ],
    [
      ['--only=mysql:60:cut', '--only=broker:7:kill'],
      ['mysql:60:cut', 'broker:7:kill'],
    ],
  ])('%s', (args, cases) => {
    expect(namesOf(...args)).toEqual(cases);
  });

  test.each([
    [['--only=postgres'], 'broker, mysql, redis'],
    [['--only=mysql:0'], 'seconds from 1 to 3600'],
    [['--only=mysql:soon'], 'seconds from 1 to 3600'],
    [['--only=mysql:60:freeze'], 'one of kill, cut'],
    [['--quik'], "Unknown option '--quik'"],
  ])('%s is refused with a word on what would work', (args, message) => {
    expect(() => parseOutageArgs(args)).toThrow(message);
  });

  test('--help lists exactly the options that exist', () => {
    const listed = commands.outages.options.map(([name]: [string]) => name.replace(/^--/, '').split('=')[0]);
    expect(listed.toSorted()).toEqual(['json', 'keep', 'only', 'quick']);
    for (const name of listed) expect(helpText('outages')).toContain(`--${name}`);
  });
});
