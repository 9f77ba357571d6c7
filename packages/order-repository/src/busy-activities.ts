import type { Database } from './database.ts';
import { ActivityLockedError } from './errors.ts';
import { withRetriedSession } from './transaction.ts';

/** Each time round another activity turned out to be locked. */
const roundsMax = 8;

export interface BusyActivities {
  /**
   * Run an attempt that leaves out the orders of the activities it is given: those that somebody keeps locked.
   * The first time an activity is met, its lock has been waited for in vain; the attempt then runs again
   * without it. From then on it is left out at once, by one short query, until it is free.
   */
  avoid<T>(database: Database, attempt: (locked: readonly number[]) => Promise<T>): Promise<T>;
}

/**
 * Remembers activities whose row stayed locked for longer than a lock is waited for. One row locked for long, by an
 * operator's session or a frozen process, must not hold up the sale and the closing of everybody else's orders: a
 * batch carries many activities, and without this each waits 3 s for that one. The memory of one process; never
 * wrong for longer than one query.
 */
export function createBusyActivities(): BusyActivities {
  const met = new Set<number>();

  /** Which of the activities met are locked right now. Asked for outside every transaction: nothing stays locked. */
  async function readLocked(database: Database): Promise<number[]> {
    if (met.size === 0) return [];
    const rows = await withRetriedSession(database, (session) =>
      session.rows<{ id: number }>('SELECT id FROM activity WHERE id IN (?) FOR UPDATE SKIP LOCKED', [
        [...met],
      ]),
    );
    for (const { id } of rows) met.delete(id);
    return [...met];
  }

  return {
    async avoid(database, attempt) {
      let locked = await readLocked(database);
      for (let round = 1; ; round += 1) {
        try {
          return await attempt(locked);
        } catch (error) {
          if (!(error instanceof ActivityLockedError) || round === roundsMax) throw error;
          // Its neighbours may be locked too: asked for together, instead of waited for one by one.
          for (const id of error.activityIds) met.add(id);
          locked = await readLocked(database);
          met.add(error.activityId);
          locked = [...new Set([...locked, error.activityId])];
        }
      }
    },
  };
}
