import { expect, test } from 'vitest';
import { createLogger, registry } from '../src/index.ts';
import { limitLines } from '../src/limit-lines.ts';

test('a storm of one kind writes 50 lines in 10 s and counts the rest; other kinds are not hushed', () => {
  const reports: [string, number][] = [];
  let nowMs = 0;
  const limit = limitLines(
    (...report) => void reports.push(report),
    () => nowMs,
  );
  const admitted = Array.from({ length: 1_000 }, () => limit.admit('MySQL is away', 'warn'));
  expect(admitted.filter(Boolean)).toHaveLength(50);
  expect(limit.admit('another kind', 'info')).toBe(true);
  expect(limit.admit('MySQL is away', 'fatal')).toBe(true);
  expect(limit.admit('MySQL is away', 'debug')).toBe(true);
  nowMs = 9_999;
  expect(limit.admit('MySQL is away', 'warn')).toBe(false);
  expect(reports).toEqual([]);
  nowMs = 10_000;
  expect(limit.admit('MySQL is away', 'warn')).toBe(true);
  expect(reports).toEqual([['MySQL is away', 951]]);
});

test('messages without an end do not fill the memory: the oldest kind is forgotten, with what it left out', () => {
  const reports: [string, number][] = [];
  const limit = limitLines(
    (...report) => void reports.push(report),
    () => 0,
  );
  for (let line = 0; line < 60; line += 1) limit.admit('first', 'error');
  for (let kind = 0; kind < 10_000; kind += 1) limit.admit(`kind ${kind}`, 'error');
  expect(reports).toEqual([['first', 10]]);
});

test('a notice whose channel is the log is a delivery: none is left out', () => {
  const lines: string[] = [];
  const log = createLogger('test', 'info', { write: (line) => void lines.push(line) });
  for (let id = 0; id < 200; id += 1) log.info({ notice: { id } }, 'notice to a buyer');
  expect(lines).toHaveLength(200);
});

test('a logger under a storm: the lines are bounded, the count is in the metrics', async () => {
  registry.resetMetrics();
  const lines: string[] = [];
  const log = createLogger('test', 'info', { write: (line) => void lines.push(line) });
  for (let line = 0; line < 500; line += 1) log.error({ orderId: String(line) }, 'storm of this test');
  for (let line = 0; line < 3; line += 1) log.info('a calm one');
  expect(lines).toHaveLength(53);
  expect(await registry.metrics()).toContain('lapse_log_lines_left_out_total{level="error"} 450');
});
