import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readmes, withSettings } from '../src/readme-settings.ts';

it.each(readmes)('%s has the settings that the processes read; if not, run `npm run readme`', (file) => {
  const text = readFileSync(file, 'utf8');
  expect(text).toBe(withSettings(text));
});
