import { readFileSync } from 'node:fs';

const page = new URL('../../../infra/deploy/ENGINES.md', import.meta.url);

/**
 * Lines of the page on engines that match, as an operator would copy them: what a test has run is what is written there.
 * @throws {Error} when there is none.
 */
export function documentedLines(pattern: RegExp): string[] {
  const lines = readFileSync(page, 'utf8')
    .split('\n')
    .filter((line) => pattern.test(line));
  if (lines.length === 0) throw new Error(`infra/deploy/ENGINES.md has no line like ${pattern}`);
  return lines;
}
