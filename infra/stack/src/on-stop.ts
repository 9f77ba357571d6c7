/** A terminal signals its whole group and npm passes the signal on: two in a moment are one wish. */
const sameWishMs = 1_000;

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Call `stop` on the first signal to stop, and `force` on a later one. Also stops when npm, which
 * started this process, is killed outright: nobody could stop it by Ctrl-C any more.
 * @returns a function that takes the listeners off.
 */
export function onStop(stop: (why: string) => void, force: () => void): () => void {
  let firstAt: number | undefined;
  const ask = (why: string): void => {
    if (firstAt === undefined) {
      firstAt = Date.now();
      stop(why);
    } else if (Date.now() - firstAt >= sameWishMs) force();
  };
  for (const signal of signals) process.on(signal, ask);
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (firstAt === undefined && process.ppid !== parent) ask('npm is gone');
  }, 1_000);
  watch.unref();
  if (process.env.npm_lifecycle_event === undefined) clearInterval(watch);
  return () => {
    clearInterval(watch);
    for (const signal of signals) process.off(signal, ask);
  };
}
