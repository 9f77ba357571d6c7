import { describe, expect, test } from 'vitest';
import { optionNames, parseDemoArgs, parseStartArgs, parseTestArgs } from '../src/args.ts';

// Plain JavaScript on purpose: it runs before anything is installed, so there is nothing to type it with.
const { commands, helpText } = await import(new URL('../../help.mjs', import.meta.url).href);

describe('arguments of npm start', () => {
  test('nothing given: automatic services, port 8080, apps, until stopped', () => {
    expect(parseStartArgs([], {})).toEqual({
      services: 'auto',
      reset: false,
      port: 8080,
      forSeconds: null,
      apps: true,
    });
  });

  test('the command line wins over LAPSE_SERVICES', () => {
    expect(parseStartArgs([], { LAPSE_SERVICES: 'compose' }).services).toBe('compose');
    expect(parseStartArgs(['--services=local'], { LAPSE_SERVICES: 'compose' }).services).toBe('local');
  });

  test('LAPSE_HTTP_PORT is honoured, --port wins over it, and neither is taken on trust', () => {
    expect(parseStartArgs([], { LAPSE_HTTP_PORT: '8123' }).port).toBe(8123);
    expect(parseStartArgs(['--port=8124'], { LAPSE_HTTP_PORT: '8123' }).port).toBe(8124);
    expect(() => parseStartArgs([], { LAPSE_HTTP_PORT: '99999' })).toThrow(
      'LAPSE_HTTP_PORT=99999 must be a whole number from 1 to 65535',
    );
  });

  test.each([
    [['--services=podman'], 'external, local, compose'],
    [['--port=0'], 'whole number'],
    [['--port=65536'], 'whole number'],
    [['--for=soon'], 'whole number'],
    [['--rest'], "Unknown option '--rest'"],
    [['start'], 'Unexpected argument'],
  ])('%s is refused with a word on what would work', (args, message) => {
    expect(() => parseStartArgs(args, {})).toThrow(message);
  });
});

test('npm test takes one package, keep and a concurrency', () => {
  expect(parseTestArgs(['--only', '@lapse/stock', '--keep', '--concurrency=1'])).toEqual({
    only: '@lapse/stock',
    keep: true,
    concurrency: 1,
  });
});

test('npm run demo keeps --services for the stack and passes the rest on as it came', () => {
  expect(parseDemoArgs(['--real-time', '--services', 'local', '--seed=4'], {})).toEqual({
    services: 'local',
    rest: ['--real-time', '--seed=4'],
  });
  expect(parseDemoArgs(['--services=compose'], {})).toEqual({ services: 'compose', rest: [] });
});

test.each(['start', 'test', 'demo'] as const)(
  '--help of %s lists exactly the options that exist',
  (command) => {
    const listed = commands[command].options.map(([name]: [string]) => name.replace(/^--/, '').split('=')[0]);
    expect(listed.toSorted()).toEqual([...optionNames[command]].toSorted());
    for (const name of optionNames[command]) expect(helpText(command)).toContain(`--${name}`);
  },
);
