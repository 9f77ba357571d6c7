import { describe, expect, test } from 'vitest';
import { settingsTable } from '../src/index.ts';
import type { Setting } from '../src/settings/setting.ts';
import { settings } from '../src/settings.ts';

const all = Object.values(settings).flatMap((group) => Object.values<Setting>(group.settings));

describe('the registry of settings', () => {
  test('no variable is defined twice, and none ends like a file variable', () => {
    const names = all.map(({ env }) => env);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => name.endsWith('_FILE'))).toEqual([]);
  });

  test.each(all.map((setting) => [setting.env, setting] as const))(
    '%s: its default and its example are valid values of it',
    (_, { schema, default: byDefault, example, secret }) => {
      if (byDefault !== undefined) expect(schema.safeParse(byDefault).success).toBe(true);
      // The example of a secret says how to make one: a real one would be copied.
      if (!secret) expect(schema.safeParse(example).success).toBe(true);
    },
  );

  test('a default and "optional" exclude each other', () => {
    expect(all.filter(({ default: byDefault, optional }) => byDefault !== undefined && optional)).toEqual([]);
  });

  test('the table for the README has one row for each, and no cell breaks it', () => {
    const rows = settingsTable().trimEnd().split('\n');
    expect(rows).toHaveLength(all.length + 2);
    for (const row of rows) expect(row.match(/(?<!\\)\|/g)).toHaveLength(6);
  });
});
