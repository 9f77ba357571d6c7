import { type Close, type Closes, onTimeMs } from './closes.ts';

/** How closing recovered, in ms. */
export interface CloseFigures {
  /**
   * The first order that its message closed after the return: from the return, or from its deadline where that came
   * later, until it was closed. Null: none yet.
   */
  readonly closedMs: number | null;
  /** From the return until the last order whose deadline had passed by then was closed; 0: none was open. */
  readonly caughtUpMs: number;
  /** From the return until the last close that was late; 0: none was. */
  readonly calmMs: number;
  /** Orders whose deadline had passed at the return and that were still open. */
  readonly overdueAtBack: number;
  /** Orders with a later deadline that were closed late all the same, and how late the latest. */
  readonly lateAfter: number;
  readonly lateAfterMaxMs: number;
}

/** On time for so long: then it is over. */
const calmForMs = 10_000;

export function figuresOf(closes: readonly Close[], backAtMs: number): CloseFigures {
  const after = closes.filter(({ closedAt }) => closedAt >= backAtMs);
  const first = earliest(after.filter(({ byMessage }) => byMessage));
  const late = after.filter(({ closedAt, deadline }) => closedAt - deadline > onTimeMs);
  const overdue = after.filter(({ deadline }) => deadline < backAtMs);
  const lateAfter = late.filter(({ deadline }) => deadline >= backAtMs);
  return {
    closedMs: first === undefined ? null : first.closedAt - Math.max(backAtMs, first.deadline),
    caughtUpMs: lastOf(overdue, backAtMs) - backAtMs,
    calmMs: lastOf(late, backAtMs) - backAtMs,
    overdueAtBack: overdue.length,
    lateAfter: lateAfter.length,
    lateAfterMaxMs: Math.max(0, ...lateAfter.map(({ closedAt, deadline }) => closedAt - deadline)),
  };
}

/** Whether orders have been closing on time for `calmForMs`, with none late and none open that is overdue. */
export function isOver({ closes, overdue }: Closes, backAtMs: number, forMs: number = calmForMs): boolean {
  const first = earliest(closes.filter(({ closedAt, byMessage }) => byMessage && closedAt >= backAtMs));
  if (first === undefined || overdue > 0) return false;
  const { calmMs } = figuresOf(closes, backAtMs);
  const calmFrom = Math.max(backAtMs + calmMs, first.closedAt);
  return lastOf(closes, backAtMs) - calmFrom >= forMs;
}

function earliest(closes: readonly Close[]): Close | undefined {
  return closes.reduce<Close | undefined>(
    (least, each) => (least === undefined || each.closedAt < least.closedAt ? each : least),
    undefined,
  );
}

function lastOf(closes: readonly Close[], otherwise: number): number {
  return closes.reduce((most, { closedAt }) => Math.max(most, closedAt), otherwise);
}
