import { sleep } from '@lapse/runtime';
import type { World } from '../world.ts';
import { awaitReady } from './await-ready.ts';
import { type Closes, readCloses } from './closes.ts';
import type { OutageCase } from './outage-case.ts';
import { type CloseFigures, figuresOf, isOver } from './recovery-figures.ts';
import type { SteadyLoad } from './steady-load.ts';
import { takeAway } from './take-away.ts';

/** What one outage came to; times in ms from the moment at which the service could be used again. */
export interface OutageResult extends OutageCase, CloseFigures {
  /** What the server's own start took, before that moment. */
  readonly startMs: number;
  /** Until every process was ready and reached all it needs. Null: not in time. */
  readonly readyMs: number | null;
  /** Until the first order was answered with its id. Null: not in time. */
  readonly createdMs: number | null;
  /** Orders that were sold while it was away. */
  readonly soldWhileAway: number;
  /** Whether orders closed on time again, for `calmForMs`. */
  readonly isOver: boolean;
}

/** Longest wait for one outage to be over; what is not well by then has no figure, and the run fails. */
const overWithinMs = 180_000;
/** On time for so long before the next one: what is measured is its own. */
const calmBeforeMs = 4_000;
const lookEveryMs = 500;
const createdLookMs = 5;

/** Wait until orders close on time by their messages. @throws {Error} when they do not. */
export async function awaitSteady(world: World, signal: AbortSignal): Promise<void> {
  const sinceMs = Date.now();
  const limit = AbortSignal.any([signal, AbortSignal.timeout(overWithinMs)]);
  const closes = await watchCloses(world, sinceMs, sinceMs, calmBeforeMs, limit);
  if (signal.aborted || isOver(closes, sinceMs, calmBeforeMs)) return;
  throw new Error('LAPSE_CHAOS_NOT_STEADY: orders do not close on time with everything there.');
}

/** Take one service away for as long as the case says, bring it back, and watch until all is as before. */
export async function measureOutage(
  world: World,
  load: SteadyLoad,
  each: OutageCase,
  signal: AbortSignal,
): Promise<OutageResult> {
  const away = takeAway(world, each);
  await sleep(each.seconds * 1_000, signal);
  const back = await away.bringBack(signal);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(overWithinMs)]);
  const [readyAt, createdAt, closes] = await Promise.all([
    awaitReady(world.apps, limit),
    awaitCreated(load, back.atMs, limit),
    watchCloses(world, away.atMs, back.atMs, undefined, limit),
  ]);
  const soldAt = load.createdAt.filter((at) => at >= away.atMs && at < back.atMs - back.startMs);
  return {
    ...each,
    ...figuresOf(closes.closes, back.atMs),
    startMs: back.startMs,
    readyMs: readyAt === null ? null : readyAt - back.atMs,
    createdMs: createdAt === undefined ? null : createdAt - back.atMs,
    soldWhileAway: soldAt.length,
    isOver: isOver(closes, back.atMs),
  };
}

async function awaitCreated(
  { createdAt }: SteadyLoad,
  sinceMs: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  while (!signal.aborted) {
    const found = createdAt.find((at) => at >= sinceMs);
    if (found !== undefined) return found;
    await sleep(createdLookMs, signal);
  }
  return undefined;
}

/** Read the orders that close until it is over, or until the signal; a store that does not answer is asked again. */
async function watchCloses(
  { services }: World,
  sinceMs: number,
  backAtMs: number,
  forMs: number | undefined,
  signal: AbortSignal,
): Promise<Closes> {
  let last: Closes = { closes: [], overdue: 0 };
  while (!signal.aborted) {
    last = await readCloses(services.mysqlUrl, sinceMs).catch(() => last);
    if (isOver(last, backAtMs, forMs)) break;
    await sleep(lookEveryMs, signal);
  }
  return last;
}
