import type { FaultName } from './faults.ts';
import type { Processes } from './processes.ts';
import type { World } from './world.ts';

/**
 * How long an order may be due for its reminder while nothing stands in the way of the sweep: its grace of 3 s, its
 * next turn within 5 s, and what a slow call of before may still hold up.
 */
const unremindedMsMax = 12_000;

/** The broker's faults stand in nobody's way here: the sweep is there because messages are lost. */
function disturbs(name: FaultName): boolean {
  return name.startsWith('mysql-') || name.startsWith('process-');
}

/**
 * Looks now and then, and sees whom nobody reminds. A buyer may miss a reminder when MySQL or all sweepers were away
 * for the time in which it was due; not when they were there.
 */
export function watchReminders(world: World, processes: Pick<Processes, 'isAnyAwake'>): () => void {
  const { scheduler, faults, database, violations } = world;
  const since = new Map<string, number>();
  let struckBefore = 0;
  return () => {
    const nowMs = scheduler.now();
    const struck = [...faults.counts()].reduce((sum, [name, count]) => sum + (disturbs(name) ? count : 0), 0);
    if (struck !== struckBefore || !processes.isAnyAwake('sweeper')) since.clear();
    struckBefore = struck;
    for (const { id, status, remindedAt, remindAt } of database.tables.orders.values()) {
      const isDue = status === 'PENDING' && remindedAt === null && remindAt.getTime() <= nowMs;
      if (!isDue) {
        since.delete(id);
        continue;
      }
      const waitedMs = nowMs - (since.get(id) ?? nowMs);
      since.set(id, nowMs - waitedMs);
      if (waitedMs <= unremindedMsMax) continue;
      violations.push({
        invariant: 'I11',
        what: `order ${id} is not reminded, ${waitedMs} ms after its time`,
      });
    }
  };
}
