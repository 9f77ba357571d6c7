import type { Difference, DifferenceKind } from './compare-stock.ts';
import { chooseAction, type HealAction } from './heal-stock.ts';

/** All differences of one kind in one activity, and what mends them. */
export interface DriftFinding {
  readonly activityId: number;
  readonly kind: DifferenceKind;
  readonly action: HealAction;
  readonly detail: { readonly count: number; readonly seen: readonly string[] };
}

/** Orders or users named in a finding. */
const subjectsMax = 20;

/** Say what differs, by kind, and what is to be done about it. Pure. */
export function describeDrift(activityId: number, drift: readonly Difference[]): DriftFinding[] {
  const kinds = [...new Set(drift.map(({ kind }) => kind))];
  return kinds.map((kind) => {
    const alike = drift.filter((difference) => difference.kind === kind);
    const seen = alike.slice(0, subjectsMax).map(({ subject, evidence }) => `${subject} ${evidence}`.trim());
    return { activityId, kind, action: chooseAction(drift, kind), detail: { count: alike.length, seen } };
  });
}
