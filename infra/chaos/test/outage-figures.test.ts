import { describe, expect, test } from 'vitest';
import type { Close } from '../src/outages/closes.ts';
import type { OutageResult } from '../src/outages/measure-outage.ts';
import { outageLine, outageTable } from '../src/outages/outage-table.ts';
import { figuresOf, isOver } from '../src/outages/recovery-figures.ts';

const back = 1_000_000;
/** Deadline and close in ms from the return. */
const close = (deadline: number, closed: number, byMessage = true): Close => ({
  ...{ deadline: back + deadline, closedAt: back + closed, byMessage },
});
/** One order a second, on time, from `from` to `to` seconds after the return. */
const onTime = (from: number, to: number): Close[] =>
  Array.from({ length: to - from + 1 }, (_, at) => close((from + at) * 1_000, (from + at) * 1_000 + 10));

describe('how closing recovered', () => {
  test('the first close by message counts from the return, or from its own deadline where that came later', () => {
    expect(figuresOf([close(-4_000, 700), close(200, 900)], back).closedMs).toBe(700);
    expect(figuresOf([close(-4_000, 500, false), close(9_000, 9_030)], back).closedMs).toBe(30);
    expect(figuresOf([close(-4_000, -3_990), close(-2_000, 400, false)], back).closedMs).toBeNull();
  });

  test('what was overdue at the return is counted until the last of it is closed, and the last late close is shown', () => {
    const closes = [close(-3_000, 500), close(-20, 1_400, false), close(900, 1_600), ...onTime(2, 12)];
    expect(figuresOf(closes, back)).toEqual({
      ...{ closedMs: 500, caughtUpMs: 1_400, calmMs: 1_600, overdueAtBack: 2 },
      ...{ lateAfter: 1, lateAfterMaxMs: 700 },
    });
  });

  test('closes before the return say nothing of the recovery', () => {
    expect(figuresOf([close(-9_000, -2_000, false), ...onTime(0, 10)], back)).toMatchObject({
      ...{ caughtUpMs: 0, calmMs: 0, overdueAtBack: 0 },
    });
  });

  test('it is over after ten seconds on time, not before, and not while an order is overdue', () => {
    const closes = [close(-3_000, 1_500), ...onTime(2, 12)];
    expect(isOver({ closes, overdue: 0 }, back)).toBe(true);
    expect(isOver({ closes: closes.slice(0, -1), overdue: 0 }, back)).toBe(false);
    expect(isOver({ closes, overdue: 1 }, back)).toBe(false);
    expect(isOver({ closes: [...closes, close(11_000, 12_005)], overdue: 0 }, back)).toBe(false);
    // The sweep alone, however punctual, is no message that closes again.
    expect(isOver({ closes: closes.map((each) => ({ ...each, byMessage: false })), overdue: 0 }, back)).toBe(
      false,
    );
  });
});

describe('what is printed', () => {
  const result: OutageResult = {
    ...{ service: 'mysql', how: 'kill', seconds: 60, startMs: 1_234, readyMs: 900, createdMs: 40 },
    ...{
      closedMs: 700,
      caughtUpMs: 1_400,
      calmMs: 1_600,
      overdueAtBack: 1_190,
      soldWhileAway: 0,
      isOver: true,
    },
    ...{ lateAfter: 7, lateAfterMaxMs: 400 },
  };
  const none = { lost: [], twice: [], early: [] };

  test('the closing line has the worst of all cases', () => {
    const other: OutageResult = { ...result, service: 'redis', readyMs: 1_100, closedMs: 20 };
    expect(outageLine([result, other], none)).toBe(
      'outages: cases=2 worst_ready_ms=1100 worst_close_ms=700 lost=0 twice=0 early=0',
    );
    expect(outageLine([result], { ...none, lost: ['an order'] })).toMatch(/lost=1 twice=0 early=0$/);
  });

  test('a figure that is missing makes the worst unknown: it is not left out', () => {
    expect(outageLine([result, { ...result, readyMs: null }], none)).toContain(
      'worst_ready_ms=unknown worst_close_ms=700',
    );
    expect(outageLine([], none)).toContain('cases=0 worst_ready_ms=unknown');
    expect(outageTable([{ ...result, closedMs: null, isOver: false }])).toMatch(
      /0\.04 +not in time +1\.40 +not in time/,
    );
  });

  test('the table has a line for each case', () => {
    expect(outageTable([result]).split('\n')).toEqual([
      'away   for   by    start  ready  created  closed  caught up  calm  sold  overdue  late after',
      'mysql  60 s  kill  1.23   0.90   0.04     0.70    1.40       1.60  0     1190     7, by 0.40 at most',
    ]);
  });
});
