import { BenchError } from '../bench-error.ts';

const block = /<!-- (\S+): begin -->[\s\S]*?<!-- \1: end -->/g;
const missing = '*Not part of this run.*';

/**
 * A report with each block, `<!-- NAME: begin -->` to `<!-- NAME: end -->`, replaced by what the figures say now. What a
 * person has written around them stays.
 * @throws {BenchError} LAPSE_BENCH_REPORT when something that was measured has no place.
 */
export function fillReport(report: string, blocks: ReadonlyMap<string, string>): string {
  const places = new Set([...report.matchAll(block)].map(([, name = '']) => name));
  const homeless = [...blocks.keys()].filter((name) => !places.has(name));
  if (homeless.length > 0) {
    const markers = homeless.map((name) => `<!-- ${name}: begin --><!-- ${name}: end -->`).join(' ');
    throw new BenchError(
      'LAPSE_BENCH_REPORT',
      `The report has no place for this; put it in by hand: ${markers}`,
    );
  }
  return report.replace(
    block,
    (_, name: string) => `<!-- ${name}: begin -->\n${blocks.get(name) ?? missing}\n<!-- ${name}: end -->`,
  );
}
