import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { drawPictures } from '../src/report/draw-pictures.ts';
import { fillReport } from '../src/report/fill-report.ts';
import { formatNumber } from '../src/report/format-number.ts';
import { htmlPage } from '../src/report/html-page.ts';
import { reportBlocks } from '../src/report/report-blocks.ts';
import { benchResult, type Outcome } from '../src/result.ts';
import { scenarios } from '../src/scenarios.ts';
import { benchResultOf, scenarioResult } from './bench-result.ts';
import { measured } from './measured.ts';

const latenessMs = {
  count: 100,
  p50: 4,
  p99: 20,
  max: 30,
  cdf: [
    [0, 0],
    [4, 0.5],
    [20, 0.99],
    [30, 1],
  ] as [number, number][],
};
const memory = {
  rssPeakBytes: { worker: 90_000_000, mysql: 500_000_000 },
  rssOverTime: {
    worker: [
      [0, 80_000_000],
      [1, 90_000_000],
    ] as [number, number][],
    mysql: [[0, 500_000_000] as [number, number]],
  },
};
const hostile = 'needs <b>postgres</b> | `now`\nand more';
const skipped: Outcome = { kind: 'skipped', reason: hostile };

const result = benchResultOf([
  scenarioResult('close-burst', {
    limit: [measured(1_000), measured(500)],
    lapse: [measured(900, { latenessMs, ...memory }), measured(450, { latenessMs, ...memory })],
    seed: [measured(10), { kind: 'no-figure', reasons: ['one place too few'] }],
    'pg-boss': [skipped, skipped],
  }),
  scenarioResult('growth-close', { 'pending-10k': [measured(1)], 'pending-1m': [measured(1)] }),
  scenarioResult('growth-create', { 'pending-10k': [measured(1)], 'pending-1m': [measured(1)] }),
  scenarioResult('steady', { lapse: [measured(200, { latenessMs, ...memory })] }),
]);
const pictures = drawPictures(result.scenarios);
const blocks = reportBlocks(result, pictures);

test('the figures of the tests are what the file of --json holds', () => {
  expect(benchResult.parse(JSON.parse(JSON.stringify(result)))).toEqual(result);
  expect(benchResult.safeParse({ ...result, more: 1 }).success).toBe(false);
});

test('a picture is drawn for what was measured, and for nothing else', () => {
  expect(pictures.map(({ file }) => file)).toEqual([
    'close-burst-rate.svg',
    'close-burst-cpu.svg',
    'close-burst-lateness.svg',
    'close-burst-memory.svg',
    'steady-lateness.svg',
    'steady-memory.svg',
    'growth-create-cpu.svg',
  ]);
  expect(drawPictures([scenarioResult('close-burst', { lapse: [skipped] })])).toEqual([]);
});

test('a picture stands alone, has a ground of its own, and says what it shows', () => {
  for (const { svg, alt } of pictures) {
    expect(svg).toMatch(/^<svg [^>]*xmlns=/);
    expect(svg).toContain('fill="#ffffff"');
    expect(svg).not.toMatch(/<script|href=|url\(http|NaN|undefined/);
    expect(alt.length).toBeGreaterThan(20);
  }
});

test('bars and lines carry the names, values and limit that were measured', () => {
  const [rate = '', , lateness = '', memoryOfCloser = ''] = pictures.map(({ svg }) => svg);
  for (const text of ['bare limit', 'lapse', 'seed', '675  (90% of the limit)']) expect(rate).toContain(text);
  expect(rate).not.toContain('pg-boss');
  expect(lateness).toContain('lapse: half within 4 ms, 99% 20, all 30');
  expect(memoryOfCloser).toContain('goal: at most 150 MB');
  expect(memoryOfCloser).not.toContain('mysql');
  const growth = pictures.at(-1)?.svg;
  for (const text of ['placing it', 'closing it', '10k', '1M']) expect(growth).toContain(text);
});

test('tables have ratios within the rounds, parts by process, and leave out what has no figure', () => {
  const text = blocks.get('close-burst') ?? '';
  const row = text.split('\n').find((line) => line.startsWith('| lapse')) ?? '';
  for (const cell of ['675 (450 - 900)', '0.9x', '15 (worker 10, mysql 5)', '4 / 20 / 30', 'worker 90']) {
    expect(row).toContain(cell);
  }
  expect(text).not.toContain('answered');
  expect(text).toContain('in 1 of 2 rounds **no figure**: `one place too few`');
  expect(text.match(/skipped/g)).toHaveLength(1);
});

test('idle and start have figures of their own, and no orders or rates', () => {
  const idle = {
    corePercent: { closer: 0.4, mysql: 0.2 },
    sqlPerMinute: { Questions: 90, Com_select: 80 },
    redisPerMinute: { ping: 6, get: 6 },
  };
  const none = { cpuUsPerOrder: {} };
  const own = reportBlocks(
    benchResultOf([
      scenarioResult('idle', { lapse: [measured(1, { ...none, idle })] }),
      scenarioResult('start', { closer: [measured(1, { readyMs: { ...latenessMs, count: 2 } })] }),
    ]),
    [],
  );
  expect(own.get('idle')).toMatch(/\| lapse +\| +closer 0.4, mysql 0.2 \| +90 \| +12 \|/);
  expect(own.get('start')).toMatch(/\| closer +\| +15 \(worker 10, mysql 5\) \| +4 \/ 20 \/ 30 \|/);
  for (const name of ['idle', 'start']) expect(own.get(name)).not.toMatch(/orders|per second/);
});

test('the page stands alone: pictures in it, and texts of others as they are', () => {
  const page = htmlPage(result);
  expect(page.match(/<svg /g)).toHaveLength(pictures.length);
  expect(page).not.toMatch(/<img|<script|<link|<b>postgres/);
  expect(page).toContain('&lt;b&gt;postgres');
  expect(page).toContain('close_vs_limit=0.90');
});

test('figures go into their blocks, and what was written by hand stays', () => {
  const report =
    'By hand.\n<!-- a: begin -->old<!-- a: end -->\nMore.\n<!-- b: begin -->\nold\n<!-- b: end -->';
  const filled = fillReport(report, new Map([['a', 'costs $& and $1']]));
  expect(filled).toBe(
    'By hand.\n<!-- a: begin -->\ncosts $& and $1\n<!-- a: end -->\nMore.\n' +
      '<!-- b: begin -->\n*Not part of this run.*\n<!-- b: end -->',
  );
  expect(fillReport(filled, new Map([['a', 'costs $& and $1']]))).toBe(filled);
});

test('a figure without a place is refused by name, not dropped', () => {
  expect(() => fillReport('', new Map([['growth', '']]))).toThrow(
    expect.objectContaining({
      code: 'LAPSE_BENCH_REPORT',
      message: expect.stringContaining('<!-- growth: begin -->'),
    }),
  );
});

test('the report has a place for every scenario that there is', () => {
  const report = readFileSync(new URL('../../../infra/bench/REPORT.md', import.meta.url), 'utf8');
  const all = ['goals', 'machine', ...scenarios.map(({ name }) => name)];
  expect(() => fillReport(report, new Map(all.map((name) => [name, ''])))).not.toThrow();
});

test('numbers have three digits, and no more words than that', () => {
  expect([27_143, 820.4, 12.345, 0.8666, 0.00341, 0].map(formatNumber)).toEqual([
    '27,143',
    '820',
    '12.3',
    '0.867',
    '0.00341',
    '0',
  ]);
});
