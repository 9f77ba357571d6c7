import { expect, test } from 'vitest';
import { explain } from '../src/explain.ts';
import { UsageError } from '../src/usage-error.ts';

test('a fault with a code of ours says all by itself; a surprise shows where it came from', () => {
  expect(explain(new UsageError('--port=0 must be …'))).toBe('--port=0 must be …');
  expect(explain(new Error('surprise'))).toContain('explain.test.ts');
});

test('causes are said, however deep', () => {
  const refused = Object.assign(new Error('connect refused'), { code: 'ECONNREFUSED' });
  const text = explain(new UsageError('MySQL is away', { cause: new Error('no pool', { cause: refused }) }));
  expect(text).toBe('MySQL is away\nCaused by: no pool\nCaused by: ECONNREFUSED connect refused');
});
