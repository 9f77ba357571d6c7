import { readConfig, registry } from '@lapse/runtime';
import { expect, test } from 'vitest';
import { showLimits } from '../src/show-limits.ts';

test.each([
  { env: {}, overdue: 30, audit: 900 },
  { env: { LAPSE_SWEEP_EVERY: '5m', LAPSE_SWEEP_GRACE: '5m' }, overdue: 605, audit: 900 },
  { env: { LAPSE_AUDIT_EVERY: '30m' }, overdue: 30, audit: 5_400 },
])('the limits of the alerts follow the settings: $env', async ({ env, overdue, audit }) => {
  showLimits(readConfig(env, ['sweeper']).sweeper);
  const text = await registry.metrics();
  expect(text).toMatch(new RegExp(`^lapse_orders_overdue_limit_seconds ${overdue}$`, 'm'));
  expect(text).toMatch(new RegExp(`^lapse_sweeper_audit_limit_seconds ${audit}$`, 'm'));
});
