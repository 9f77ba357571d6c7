import { expect, test } from 'vitest';
import { createLatenessMeter, registry } from '../src/index.ts';

test('its figure is of the last 1,000 orders, its metric of all', async () => {
  const meter = createLatenessMeter({ name: 'lapse_test_lateness_seconds', help: 'Of this test.' });
  expect(meter.figures()).toEqual({});
  for (let order = 0; order < 1_000; order += 1) meter.observe(9_000);
  expect(meter.figures()).toEqual({ latenessP99Ms: 9_000 });
  for (let order = 0; order < 1_000; order += 1) meter.observe(order < 985 ? 2.4 : 70);
  expect(meter.figures()).toEqual({ latenessP99Ms: 70 });
  for (let order = 0; order < 10; order += 1) meter.observe(1);
  expect(await registry.metrics()).toContain('lapse_test_lateness_seconds_count 2010');
});

test('one order is its own figure, and an early one is not late', () => {
  const meter = createLatenessMeter({ name: 'lapse_test_one_seconds', help: 'Of this test.' });
  meter.observe(-1);
  expect(meter.figures()).toEqual({ latenessP99Ms: 0 });
});
