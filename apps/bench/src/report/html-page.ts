import { Marked } from 'marked';
import type { BenchResult } from '../result.ts';
import { drawPictures } from './draw-pictures.ts';
import { reportBlocks } from './report-blocks.ts';

const style = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 1100px; margin: 2rem auto; padding: 0 1rem; }
table { display: block; overflow-x: auto; border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.3rem 0.7rem; border: 1px solid #8884; white-space: nowrap; }
figure { margin: 1.5rem 0; overflow-x: auto; }
code { overflow-wrap: anywhere; }
`;

/** The figures of one run as a page that stands alone: pictures, goals, tables, machine and settings. */
export function htmlPage(result: BenchResult): string {
  const pictures = drawPictures(result.scenarios);
  const drawn = new Map(pictures.map(({ file, svg }) => [file, svg]));
  const marked = new Marked({
    renderer: { image: ({ href }) => `<figure>${drawn.get(href) ?? ''}</figure>` },
  });
  const sections = [...reportBlocks(result, pictures)].map(([name, markdown]) => `## ${name}\n\n${markdown}`);
  const body = marked.parse(['# Lapse: what was measured', ...sections].join('\n\n'), { async: false });
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>Lapse: what was measured</title><style>${style}</style></head>`,
    `<body>${body}</body></html>\n`,
  ].join('\n');
}
