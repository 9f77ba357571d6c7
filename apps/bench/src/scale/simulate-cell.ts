/** What closes orders together: one MySQL primary, and the closers, Redis node and broker that work for it alone. */
export interface Cell {
  readonly closers: number;
  readonly primaryCores: number;
  /** Sales whose orders it closes. Their rows are what batches wait for each other at. */
  readonly activities: number;
}

/** Microseconds of CPU an order, as the bench measured them. */
export interface CloseCost {
  readonly worker: number;
  readonly mysql: number;
}

export interface Load {
  readonly orders: number;
  /** Their deadlines are spread evenly over so long; 0: all at one moment. */
  readonly windowMs: number;
}

export interface Closing {
  /** After the first deadline. */
  readonly lastClosedMs: number;
  readonly lateP99Ms: number;
  readonly lateMaxMs: number;
  /** Share of its time in which the busiest of a kind worked. */
  readonly busy: { readonly closer: number; readonly primary: number };
}

/** As the closer has them. */
const batchMax = 2_000;
const lanes = 2;
/** For which a commit holds the rows of its activities: a write to disk, its answer, and the next one's turn. */
const commitMs = 4;
/** Of a deadline that was multiplied and divided again. */
const rounding = 1e-6;

interface Lane {
  readonly closer: number;
  freeAtMs: number;
}

/**
 * Play the closing of a load, batch by batch: a closer takes what is due, works on one core, has at most two batches at
 * MySQL, which has so many cores, and commits one at a time for each activity. The broker is taken to keep up: messages
 * go out before they are due. Nothing is random, so the same numbers come out each time.
 */
export function simulateCell({ orders, windowMs }: Load, cell: Cell, cost: CloseCost): Closing {
  const share = orders / cell.closers;
  const everyMs = windowMs / share;
  const closerFreeAt = Array.from({ length: cell.closers }, () => 0);
  const closerBusy = Array.from({ length: cell.closers }, () => 0);
  const taken = Array.from({ length: cell.closers }, () => 0);
  const coreFreeAt = Array.from({ length: cell.primaryCores }, () => 0);
  let primaryBusy = 0;
  /** Batches whose activities are others do not meet; those that carry all of them do. */
  const rowsFreeAt = Array.from({ length: Math.max(1, Math.floor(cell.activities / batchMax)) }, () => 0);
  const waiting: Lane[] = Array.from({ length: cell.closers * lanes }, (_, index) => ({
    closer: index % cell.closers,
    freeAtMs: 0,
  }));
  const closed: { readonly lateMs: number; readonly count: number }[] = [];
  let lastClosedMs = 0;

  for (let lane = earliest(waiting); lane; lane = earliest(waiting)) {
    const { closer } = lane;
    const before = taken[closer] ?? 0;
    if (before >= share) {
      waiting.splice(waiting.indexOf(lane), 1);
      continue;
    }
    const due = everyMs === 0 ? share : Math.min(share, Math.floor(lane.freeAtMs / everyMs + rounding) + 1);
    if (due <= before) {
      lane.freeAtMs = before * everyMs;
      continue;
    }
    const count = Math.min(batchMax, due - before);
    taken[closer] = before + count;
    const begunMs = Math.max(lane.freeAtMs, closerFreeAt[closer] ?? 0);
    const handedMs = begunMs + (count * cost.worker) / 1_000;
    closerFreeAt[closer] = handedMs;
    closerBusy[closer] = (closerBusy[closer] ?? 0) + handedMs - begunMs;
    const writtenMs = takeEarliest(coreFreeAt, handedMs, (count * cost.mysql) / 1_000);
    primaryBusy += (count * cost.mysql) / 1_000;
    const doneMs = takeEarliest(rowsFreeAt, writtenMs, commitMs);
    lane.freeAtMs = doneMs;
    lastClosedMs = Math.max(lastClosedMs, doneMs);
    closed.push({ lateMs: doneMs - before * everyMs, count });
  }
  const late = closed.toSorted((a, b) => a.lateMs - b.lateMs);
  return {
    lastClosedMs,
    lateP99Ms: quantile(late, orders * 0.99),
    lateMaxMs: late.at(-1)?.lateMs ?? 0,
    busy: {
      closer: Math.max(...closerBusy) / lastClosedMs,
      primary: primaryBusy / cell.primaryCores / lastClosedMs,
    },
  };
}

function earliest(lanesLeft: readonly Lane[]): Lane | undefined {
  return lanesLeft.reduce<Lane | undefined>(
    (first, lane) => (first === undefined || lane.freeAtMs < first.freeAtMs ? lane : first),
    undefined,
  );
}

/** Use whichever is free first, from `fromMs` on at the soonest. @returns when it is done. */
function takeEarliest(freeAt: number[], fromMs: number, forMs: number): number {
  const index = freeAt.indexOf(Math.min(...freeAt));
  const doneMs = Math.max(fromMs, freeAt[index] ?? 0) + forMs;
  freeAt[index] = doneMs;
  return doneMs;
}

/** The latest of a batch's orders stands for all of them, so this is never too good. */
function quantile(late: readonly { lateMs: number; count: number }[], wanted: number): number {
  let seen = 0;
  for (const { lateMs, count } of late) {
    seen += count;
    if (seen >= wanted) return lateMs;
  }
  return late.at(-1)?.lateMs ?? 0;
}
