import { expect, test } from 'vitest';
import { createTally } from '../src/index.ts';

test('of orders that were paid too late all are counted, and a few are named; one paid in time is neither', () => {
  const tally = createTally();
  tally.lastMoment('PAID', 'in time');
  for (let order = 1; order <= 7; order += 1) tally.lastMoment('TIMEOUT_CLOSED', `late ${order}`);
  expect(tally.counts.lateRefunds).toBe(7);
  expect(tally.counts.lateOrders).toEqual(['late 1', 'late 2', 'late 3', 'late 4', 'late 5']);
});
