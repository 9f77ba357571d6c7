import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createPrinter } from '../src/print.ts';
import { statusText } from '../src/status-line.ts';

function pipe() {
  const stream = new PassThrough();
  // The part of a terminal's stream that a pipe lacks is optional in the printer's eyes.
  return { out: stream as unknown as NodeJS.WriteStream, text: () => String(stream.read() ?? '') };
}

test('in a pipe a step is one plain line with its seconds, and a failed one says so', async () => {
  const { out, text } = pipe();
  const print = createPrinter(out);
  await print.step(
    'schema',
    (steps: number) => `schema migrated (${steps})`,
    async () => 3,
  );
  expect(text()).toMatch(/^schema migrated \(3\): \d+\.\d s\n$/);
  await expect(print.step('schema', 'done', async () => Promise.reject(new Error('no')))).rejects.toThrow(
    'no',
  );
  expect(text()).toMatch(/^schema FAILED: \d+\.\d s\n$/);
});

test('in a pipe the status is said when it is new, not again and again', () => {
  const { out, text } = pipe();
  const print = createPrinter(out);
  print.status('one');
  print.status('one');
  print.status('two, at once: held back');
  expect(text()).toBe('one\n');
});

test('the status line counts the orders by state', () => {
  expect(statusText({ pending: 2, reminded: 1, paid: 3, closed: 4, cancelled: 5 })).toBe(
    'orders: 2 pending (1 reminded), 3 paid, 4 closed, 5 cancelled',
  );
});
