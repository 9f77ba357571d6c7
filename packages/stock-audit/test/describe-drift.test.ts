import { expect, test } from 'vitest';
import { type Difference, describeDrift } from '../src/index.ts';

const left = (number: number): Difference => ({
  kind: 'hold_left',
  subject: `order ${number}`,
  evidence: 'CANCELLED held:1',
});

test('differences of one kind are one finding, with their number and the first twenty of them', () => {
  const [finding, ...others] = describeDrift(
    7,
    Array.from({ length: 30 }, (_, number) => left(number)),
  );
  expect(others).toEqual([]);
  expect(finding).toMatchObject({
    activityId: 7,
    kind: 'hold_left',
    action: 'release',
    detail: { count: 30 },
  });
  expect(finding?.detail.seen).toHaveLength(20);
  expect(finding?.detail.seen[0]).toBe('order 0 CANCELLED held:1');
});

test('a counter that is off beside it: the activity is loaded anew, for each action would keep the error', () => {
  const findings = describeDrift(7, [left(1), { kind: 'counter_off', subject: '', evidence: '2' }]);
  expect(findings.map(({ kind, action }) => `${kind}: ${action}`)).toEqual([
    'hold_left: rebuild',
    'counter_off: rebuild',
  ]);
});
