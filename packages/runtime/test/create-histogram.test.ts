import { expect, test } from 'vitest';
import { createHistogram, Histogram, registry } from '../src/index.ts';

/** The lines of one metric, its name taken away. */
async function linesOf(name: string): Promise<string[]> {
  const text = await registry.metrics();
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}_`))
    .map((line) => line.slice(name.length));
}

test('it says the same as the histogram of prom-client, bucket by bucket', async () => {
  const buckets = [0.05, 0.25, 1];
  const ours = createHistogram({ name: 'lapse_test_ours', help: 'Of this test.', buckets });
  const theirs = new Histogram({ name: 'lapse_test_theirs', help: 'Of this test.', buckets });
  for (const value of [0, 0.05, 0.050_1, 0.25, 0.9, 1, 1.01, 40, -1]) {
    ours.observe(value);
    theirs.observe(value);
  }
  const lines = await linesOf('lapse_test_ours');
  expect(lines).toContain('_bucket{le="1"} 7');
  expect(lines).toEqual(await linesOf('lapse_test_theirs'));
});

test('a label has the values that were named and no other, each from its first use on', async () => {
  const histogram = createHistogram({
    ...{ name: 'lapse_test_label', help: 'Of this test.', buckets: [1] },
    label: { name: 'operation', values: ['read', 'write'] },
  });
  histogram.observe(0.5, 'read');
  histogram.observe(0.5, 'an id' as 'read');
  expect(await linesOf('lapse_test_label')).toEqual([
    '_bucket{operation="read",le="1"} 1',
    '_bucket{operation="read",le="+Inf"} 1',
    '_sum{operation="read"} 0.5',
    '_count{operation="read"} 1',
  ]);
});
