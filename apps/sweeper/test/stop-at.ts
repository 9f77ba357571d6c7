/**
 * Says what a scripted task asks in a run, and wishes the run to stop at one of these.
 * @param task makes the task, whose scripts say by `ask` what they are asked.
 */
export function stopsAt(task: (ask: (what: string) => void) => (signal: AbortSignal) => Promise<unknown>) {
  const asked: string[] = [];
  let stop = new AbortController();
  let stopAt = '';
  const run = task((what) => {
    asked.push(what);
    if (what === stopAt) stop.abort();
  });
  /** @returns what a run asks that is wished to stop when it asks this. */
  return async (what: string): Promise<string[]> => {
    stop = new AbortController();
    stopAt = what;
    await run(stop.signal);
    return asked.splice(0);
  };
}
