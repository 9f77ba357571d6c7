import { apps } from './app-program.ts';
import { measuredFigures, outcomesOf, ratesByRound } from './outcomes.ts';
import type { Figures, Outcome, ScenarioResult } from './result.ts';
import { ratioByRound, type Summary, summarise } from './statistics.ts';

/** What was promised, and how the figures of a run say whether it holds. */
export interface Goal {
  readonly work: string;
  readonly figure: string;
  readonly unit: 'x' | 'us' | 'ms' | 's' | 'MB' | '%' | '';
  readonly bound: { readonly atLeast: number } | { readonly atMost: number };
  readonly read: ReadResults;
  /** The same of a contender that does the bare work and keeps no promise of a product: what can be had at all. */
  readonly readBare?: ReadResults;
}

/** Over the rounds; undefined when this run did not measure it. */
type ReadResults = (results: readonly ScenarioResult[]) => Summary | undefined;

/** Of a round; undefined where it was not measured. */
type Read = (figures: Figures) => number | undefined;

/** From so many cores on, two processes of a kind find one each beside the stores and the load. */
const coresForTwo = 4;

/** @param cores of the machine: where there are few, a second process can only be no slower. */
export function goalsFor(cores: number): readonly Goal[] {
  const gain = cores >= coresForTwo ? 1.5 : 1;
  const stores = ['worker', 'mysql', 'redis'];
  return [
    faster('burst close', 'bare limit', 0.9, 'close-burst/lapse', 'close-burst/limit'),
    faster('burst close', "seed's worker", 25, 'close-burst/lapse', 'close-burst/seed'),
    faster('burst close', 'BullMQ', 30, 'close-burst/lapse', 'close-burst/bullmq'),
    beside(
      below('burst close', 'CPU per order: Node, SQL, Redis', 30, 'us', 'close-burst/lapse', cpuOf(stores)),
      valuesOf('close-burst/limit', cpuOf(stores)),
    ),
    below('burst close', 'last order closed after', 6, 's', 'close-burst/lapse', ({ seconds }) => seconds),
    beside(
      faster('burst close, 100 activities', 'one activity', 1, 'close-burst-100/lapse', 'close-burst/lapse'),
      ratioOf('close-burst-100/limit', 'close-burst/limit'),
    ),
    faster('burst remind', 'burst close', 0.5, 'remind-burst/lapse', 'close-burst/lapse'),
    below('steady', 'late, p50', 10, 'ms', 'steady/lapse', ({ latenessMs }) => latenessMs?.p50),
    below('steady', 'late, p99', 50, 'ms', 'steady/lapse', lateP99),
    below('steady', 'late, max', 250, 'ms', 'steady/lapse', ({ latenessMs }) => latenessMs?.max),
    below('steady', 'closed early', 0, '', 'steady/lapse', ({ early }) => early),
    below('steady, timerPrecisionMs 1000', 'late, p99', 50, 'ms', 'steady-default-precision/lapse', lateP99),
    below('rolling update', 'late, max', 250, 'ms', 'rolling/lapse', ({ latenessMs }) => latenessMs?.max),
    below('rolling update', 'closed early', 0, '', 'rolling/lapse', ({ early }) => early),
    beside(
      faster('create', 'bare reserve route', 0.6, 'create/lapse', 'create/limit'),
      ratioOf('create/product-limit', 'create/limit'),
    ),
    beside(
      faster('create', "seed's create", 15, 'create/lapse', 'create/seed'),
      ratioOf('create/product-limit', 'create/seed'),
    ),
    beside(
      below('create', 'CPU per order: everything', 200, 'us', 'create/lapse', cpuOf()),
      valuesOf('create/product-limit', cpuOf()),
    ),
    beside(
      below('create', 'answered, p99', 150, 'ms', 'create/lapse', responseP99),
      valuesOf('create/product-limit', responseP99),
    ),
    beside(
      faster('sold-out refusals', 'bare reserve route', 0.9, 'sold-out/lapse', 'sold-out/limit'),
      ratioOf('sold-out/product-limit', 'sold-out/limit'),
    ),
    costlier('growth, create', 'growth-create/pending-1m', 'growth-create/pending-10k'),
    costlier('growth, close', 'growth-close/pending-1m', 'growth-close/pending-10k'),
    faster('two closers', 'one', gain, 'two-closers/two', 'two-closers/one'),
    faster('two producers', 'one', gain, 'two-producers/two', 'two-producers/one'),
    beside(
      below('memory', 'closer, peak in the burst', 150, 'MB', 'close-burst/lapse', peakMegabytes('worker')),
      valuesOf('close-burst/limit', peakMegabytes('worker')),
    ),
    beside(
      below('memory', 'producer, peak', 200, 'MB', 'create/lapse', peakMegabytes('worker')),
      valuesOf('create/product-limit', peakMegabytes('worker')),
    ),
    ...apps.map((app) =>
      below('idle', `${app}, of one core`, 1, '%', 'idle/lapse', ({ idle }) => idle?.corePercent[app]),
    ),
    ...apps.map((app) => below('start', `${app} ready after`, 1_000, 'ms', `start/${app}`, readyAfter)),
  ];
}

/** How many times as fast, compared within each round. */
function faster(work: string, than: string, atLeast: number, contender: Path, base: Path): Goal {
  return {
    work,
    figure: `rate / ${than}`,
    unit: 'x',
    bound: { atLeast },
    read: ratioOf(contender, base),
  };
}

/** A goal, with what the bare work has of the same figure. */
function beside(goal: Goal, readBare: ReadResults): Goal {
  return { ...goal, readBare };
}

function ratioOf(contender: Path, base: Path): ReadResults {
  return (results) => ratioByRound(ratesByRound(find(results, contender)), ratesByRound(find(results, base)));
}

function valuesOf(contender: Path, read: Read): ReadResults {
  return (results) =>
    summarise(measuredFigures(find(results, contender)).flatMap((each) => read(each) ?? []));
}

/** How many times the CPU time of one order, compared within each round. */
function costlier(work: string, contender: Path, base: Path): Goal {
  const cost = (results: readonly ScenarioResult[], path: Path): (number | undefined)[] =>
    find(results, path).map((outcome) =>
      outcome.kind === 'measured' ? cpuOf()(outcome.figures) : undefined,
    );
  return {
    work,
    figure: 'CPU per order, 1M pending / 10k',
    unit: 'x',
    bound: { atMost: 1.15 },
    read: (results) => ratioByRound(cost(results, contender), cost(results, base)),
  };
}

function below(
  work: string,
  figure: string,
  atMost: number,
  unit: Goal['unit'],
  contender: Path,
  read: Read,
): Goal {
  return {
    work,
    figure,
    unit,
    bound: { atMost },
    read: valuesOf(contender, read),
  };
}

/** SCENARIO/CONTENDER. */
type Path = `${string}/${string}`;

function find(results: readonly ScenarioResult[], path: Path): readonly Outcome[] {
  const [scenario = '', contender = ''] = path.split('/');
  return outcomesOf(results, scenario, contender);
}

function readyAfter({ readyMs }: Figures): number | undefined {
  return readyMs?.p50;
}

function responseP99({ responseMs }: Figures): number | undefined {
  return responseMs?.p99;
}

function lateP99({ latenessMs }: Figures): number | undefined {
  return latenessMs?.p99;
}

/** Undefined where one of them was not measured: the sum would be too small. All of them when none is named. */
function cpuOf(names?: readonly string[]): Read {
  return ({ cpuUsPerOrder }) => {
    const wanted = (names ?? Object.keys(cpuUsPerOrder)).map((name) => cpuUsPerOrder[name]);
    const known = wanted.filter((us) => us !== undefined);
    if (known.length === 0 || known.length < wanted.length) return undefined;
    return known.reduce((sum, us) => sum + us, 0);
  };
}

const bytesPerMegabyte = 1_000_000;

function peakMegabytes(name: string): Read {
  return ({ rssPeakBytes }) => {
    const bytes = rssPeakBytes[name];
    return bytes === undefined ? undefined : bytes / bytesPerMegabyte;
  };
}
