import type { Closable, Logger } from '@lapse/runtime';

export interface DueTimers extends Closable {
  /** Run the task at that time, milliseconds since 1970, or at once when it is past. One per id. */
  set(id: string, dueAt: number, task: () => void): void;
  drop(id: string): void;
}

/** What happens by itself later on. A task that fails is logged: nothing waits for it. */
export function createDueTimers(log: Logger): DueTimers {
  const timers = new Map<string, NodeJS.Timeout>();
  const drop = (id: string): void => {
    clearTimeout(timers.get(id));
    timers.delete(id);
  };
  return {
    set: (id, dueAt, task) => {
      drop(id);
      const run = (): void => {
        timers.delete(id);
        try {
          task();
        } catch (error) {
          // A journal that cannot be written: nothing was decided, and the next start tries again.
          log.error({ err: error, id }, 'a payment or refund that was due could not be carried out');
        }
      };
      timers.set(id, setTimeout(run, Math.max(0, dueAt - Date.now())));
    },
    drop,
    close: async () => {
      for (const id of [...timers.keys()]) drop(id);
    },
  };
}
