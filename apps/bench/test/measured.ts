import type { Figures, Outcome } from '../src/result.ts';

/** An outcome with this rate; everything else is made up, unless given. */
export function measured(perSecond: number, more: Partial<Figures> = {}): Outcome {
  const figures: Figures = {
    orders: 100,
    seconds: 1,
    perSecond,
    cpuUsPerOrder: { worker: 10, mysql: 5 },
    armCpuUsPerOrder: {},
    rssPeakBytes: {},
    rssOverTime: {},
    sql: {},
    redis: {},
    latenessMs: null,
    early: 0,
    responseMs: null,
    ...more,
  };
  return { kind: 'measured', figures };
}
