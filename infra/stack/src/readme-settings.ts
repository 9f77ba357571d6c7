import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { settingsTable } from '@lapse/runtime';

const root = new URL('../../../', import.meta.url);
export const readmes = ['README.md', 'README.zh-CN.md'].map((name) => fileURLToPath(new URL(name, root)));

const block = /<!-- settings: begin -->[\s\S]*?<!-- settings: end -->/;

/** A README's text with its table of settings as the registry has it now. */
export function withSettings(readme: string): string {
  if (!block.test(readme)) throw new Error('The README has no "<!-- settings: begin -->" … end block.');
  // A function, because a default such as "$&" in the table would otherwise be read as a pattern.
  return readme.replace(
    block,
    () => `<!-- settings: begin -->\n${settingsTable().trim()}\n<!-- settings: end -->`,
  );
}

// `npm run readme` writes; a test compares.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const file of readmes) writeFileSync(file, withSettings(readFileSync(file, 'utf8')));
}
