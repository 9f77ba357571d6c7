import type { Database } from './database.ts';
import { ActivityLockedError } from './errors.ts';
import { findLocked } from './find-locked.ts';
import { withRetriedSession } from './transaction.ts';

/** Each time round another activity turned out to be locked. */
const roundsMax = 8;

export interface BusyActivities {
  /**
   * Run an attempt that leaves out the orders of the activities it is given: those that somebody keeps locked.
   * The first time one of them is met, its lock has been waited for in vain; the attempt then runs again without
   * it and all others that are locked. From then on they are left out after a look of 50 ms, until they are free.
   * One that is free by now is tried once more.
   */
  avoid<T>(database: Database, attempt: (locked: readonly number[]) => Promise<T>): Promise<T>;
}

/**
 * Remembers activities whose row stayed locked for longer than a lock is waited for. One row locked for long, by an
 * operator's session or a frozen process, must not hold up the sale and the closing of everybody else's orders: a
 * batch carries many activities, and without this each waits 3 s for that one. The memory of one process, asked
 * about before each use. Safe to share among calls that run at once.
 */
export function createBusyActivities(): BusyActivities {
  const met = new Set<number>();

  /** Which of these, and of the activities met, stay locked. Outside every transaction: nothing is kept locked. */
  async function readLocked(database: Database, asked: readonly number[]): Promise<readonly number[]> {
    const ids = [...new Set([...met, ...asked])];
    const locked = await findLocked((use) => withRetriedSession(database, use), ids);
    for (const id of ids) met.delete(id);
    for (const id of locked) met.add(id);
    return locked;
  }

  return {
    async avoid(database, attempt) {
      const waitedOnce = new Set<number>();
      const waitedTwice = new Set<number>();
      let locked = await readLocked(database, []);
      for (let round = 1; ; round += 1) {
        try {
          return await attempt(locked);
        } catch (error) {
          if (!(error instanceof ActivityLockedError) || round === roundsMax) throw error;
          (waitedOnce.has(error.activityId) ? waitedTwice : waitedOnce).add(error.activityId);
          // Its neighbours may be locked too: asked for together, instead of waited for one by one.
          locked = [...new Set([...(await readLocked(database, error.activityIds)), ...waitedTwice])];
        }
      }
    },
  };
}
