import type { Level } from 'pino';
import { Counter } from './metrics.ts';

/** Lines of one kind in one window; the rest is counted. A kind is a message, whatever its fields say. */
const linesMax = 50;
const windowMs = 10_000;
/** Kinds known at once; the oldest is forgotten first, and begins anew. */
const kindsMax = 500;
const kindLengthMax = 200;

const linesLeftOut = new Counter({
  name: 'lapse_log_lines_left_out_total',
  help: 'Log lines that were not written because too many of their kind were.',
  labelNames: ['level'] as const,
});

for (const level of ['info', 'warn', 'error']) linesLeftOut.inc({ level }, 0);

interface Kind {
  windowEndsAt: number;
  lines: number;
  leftOut: number;
}

export interface LineLimit {
  /** False: leave the line out. */
  admit(kind: string, level: Level): boolean;
}

/**
 * Bound what a storm writes: a store that is away fails thousands of requests a second, each with its line, and a log
 * that is full hides what began it. The first 50 lines of each kind in 10 s are written, and then how many were not.
 * What ends a process is always written, and so is what a person asked for by the level debug.
 * @param report hears of each kind of which lines were left out, once its window is over.
 */
export function limitLines(
  report: (kind: string, leftOut: number) => void,
  now: () => number = () => performance.now(),
): LineLimit {
  const kinds = new Map<string, Kind>();
  let isArmed = false;

  const endWindow = (name: string, kind: Kind): void => {
    kinds.delete(name);
    if (kind.leftOut > 0) report(name, kind.leftOut);
  };
  const endWindows = (): void => {
    isArmed = false;
    for (const [name, kind] of kinds) if (now() >= kind.windowEndsAt) endWindow(name, kind);
    if ([...kinds.values()].some(({ leftOut }) => leftOut > 0)) arm();
  };
  const arm = (): void => {
    if (isArmed) return;
    isArmed = true;
    setTimeout(endWindows, windowMs).unref();
  };

  return {
    admit: (text, level) => {
      if (level === 'fatal' || level === 'debug' || level === 'trace') return true;
      const name = text.slice(0, kindLengthMax);
      const known = kinds.get(name);
      if (known === undefined || now() >= known.windowEndsAt) {
        if (known) endWindow(name, known);
        const [oldest] = kinds;
        if (kinds.size >= kindsMax && oldest) endWindow(...oldest);
        kinds.set(name, { windowEndsAt: now() + windowMs, lines: 1, leftOut: 0 });
        return true;
      }
      known.lines += 1;
      if (known.lines <= linesMax) return true;
      known.leftOut += 1;
      linesLeftOut.inc({ level });
      arm();
      return false;
    },
  };
}
