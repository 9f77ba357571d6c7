import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BenchError } from './bench-error.ts';
import { readResult } from './read-result.ts';
import { drawPictures } from './report/draw-pictures.ts';
import { fillReport } from './report/fill-report.ts';
import { reportBlocks } from './report/report-blocks.ts';

/**
 * `npm run bench:report [FILE.json]`: puts the figures of a run, of infra/bench/result.json unless told otherwise, into
 * infra/bench/REPORT.md and draws its pictures beside it.
 */
const report = fileURLToPath(new URL('../../../infra/bench/REPORT.md', import.meta.url));

try {
  const result = readResult(process.argv[2] ?? join(dirname(report), 'result.json'));
  const pictures = drawPictures(result.scenarios);
  const text = fillReport(readFileSync(report, 'utf8'), reportBlocks(result, pictures));
  for (const { file, svg } of pictures) writeFileSync(join(dirname(report), file), `${svg}\n`);
  writeFileSync(report, text);
  process.stdout.write(`${report}: ${result.scenarios.length} scenarios, ${pictures.length} pictures\n`);
} catch (error) {
  if (!(error instanceof BenchError)) throw error;
  process.stderr.write(`${error.code}: ${error.message}\n`);
  process.exitCode = 1;
}
