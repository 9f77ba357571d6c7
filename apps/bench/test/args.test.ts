import { describe, expect, test } from 'vitest';
import { parseBenchArgs } from '../src/args.ts';
import { catalogueOf, scenarios } from '../src/scenarios.ts';

// Plain JavaScript on purpose: it runs before anything is installed, so there is nothing to type it with.
const { commands, helpText } = await import(new URL('../../../infra/help.mjs', import.meta.url).href);

const catalogue = { 'close-burst': ['limit', 'lapse'], create: ['limit'] };

describe('arguments of npm run bench', () => {
  test("everything, in each scenario's own rounds and sizes, unless told otherwise", () => {
    expect(parseBenchArgs([], catalogue)).toEqual({
      quick: false,
      only: null,
      json: null,
      html: null,
      rounds: null,
      orders: null,
    });
  });

  test('one scenario, or some of its contenders', () => {
    const args = [
      ...['--only', 'close-burst:limit,lapse', '--json=a/b.json', '--html=c.html'],
      ...['--rounds=5', '--orders', '2000'],
    ];
    expect(parseBenchArgs(args, catalogue)).toEqual({
      quick: false,
      only: [{ scenario: 'close-burst', contenders: ['limit', 'lapse'] }],
      json: 'a/b.json',
      html: 'c.html',
      rounds: 5,
      orders: 2_000,
    });
    expect(parseBenchArgs(['--only=create', '--only=close-burst:lapse'], catalogue).only).toEqual([
      { scenario: 'create', contenders: [] },
      { scenario: 'close-burst', contenders: ['lapse'] },
    ]);
  });

  test('--quick runs what the closing line needs, unless --only names something else', () => {
    const { quick, only } = parseBenchArgs(['--quick'], catalogueOf(scenarios));
    expect(quick).toBe(true);
    const known = catalogueOf(scenarios);
    for (const { scenario, contenders } of only ?? []) {
      expect(known[scenario]).toEqual(expect.arrayContaining([...contenders]));
    }
    expect(only?.map(({ scenario }) => scenario)).toEqual(['close-burst', 'create', 'steady']);
    expect(parseBenchArgs(['--quick', '--only=create'], catalogue).only).toEqual([
      { scenario: 'create', contenders: [] },
    ]);
  });

  test.each([
    [['--only=close'], 'there are close-burst, create'],
    [['--only=close-burst:lapse,kafka'], 'no contender "kafka"; it has limit, lapse'],
    [['--rounds=0'], 'whole number from 1 to 100'],
    [['--rounds=two'], 'whole number from 1 to 100'],
    [['--orders=99'], 'whole number from 100 to 1000000'],
    [['--quik'], "Unknown option '--quik'"],
    [['close-burst'], 'Unexpected argument'],
  ])('%s is refused with a code and a word on what would work', (args, message) => {
    expect(() => parseBenchArgs(args, catalogue)).toThrow(
      expect.objectContaining({
        code: 'LAPSE_BENCH_ARGUMENT',
        message: expect.stringContaining(message),
      }),
    );
  });

  test('--help lists exactly the options that exist', () => {
    const listed = commands.bench.options.map(([name]: [string]) => name.replace(/^--/, '').split('=')[0]);
    expect(listed.toSorted()).toEqual(['html', 'json', 'only', 'orders', 'quick', 'rounds']);
    for (const name of listed) expect(helpText('bench')).toContain(`--${name}`);
  });
});
