import { describe, expect, test } from 'vitest';
import { parseDrillArgs } from '../src/drills/parse-drill-args.ts';

// Plain JavaScript on purpose: it runs before anything is installed, so there is nothing to type it with.
const { commands, helpText } = await import(new URL('../../help.mjs', import.meta.url).href);

describe('arguments of npm run drills', () => {
  test('every drill, MySQL from a backup that is a minute old, unless told otherwise', () => {
    expect(parseDrillArgs([])).toEqual({
      ...{ names: ['redis', 'broker', 'mysql'], backupAgeSeconds: 60, keep: false },
    });
    expect(parseDrillArgs(['--only=mysql', '--only', 'redis', '--backup-age=600', '--keep'])).toEqual({
      ...{ names: ['mysql', 'redis'], backupAgeSeconds: 600, keep: true },
    });
  });

  test.each([
    [['--only=postgres'], 'redis, broker, mysql'],
    [['--backup-age=5'], 'from 20 to 3600'],
    [['--backup-age=10m'], 'whole number of seconds'],
    [['--onyl=redis'], "Unknown option '--onyl'"],
  ])('%s is refused with a word on what would work', (args, message) => {
    expect(() => parseDrillArgs(args)).toThrow(message);
  });

  test('--help lists exactly the options that exist', () => {
    const listed = commands.drills.options.map(([name]: [string]) => name.replace(/^--/, '').split('=')[0]);
    expect(listed.toSorted()).toEqual(['backup-age', 'keep', 'only']);
    for (const name of listed) expect(helpText('drills')).toContain(`--${name}`);
  });
});
