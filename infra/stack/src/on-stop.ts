import { readFileSync } from 'node:fs';

/** A terminal signals its whole group and npm passes the signal on: two in a moment are one wish. */
const sameWishMs = 1_000;
const watchEveryMs = 1_000;

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Call `stop` on the first signal to stop, and `force` on a later one. Also stops when npm, which
 * started this process, is killed outright: nobody could stop it by Ctrl-C any more.
 */
export function onStop(stop: (why: string) => void, force: () => void): void {
  let firstAt: number | undefined;
  const ask = (why: string): void => {
    if (firstAt === undefined) {
      firstAt = Date.now();
      stop(why);
    } else if (Date.now() - firstAt >= sameWishMs) force();
  };
  for (const signal of signals) process.on(signal, ask);
  if (process.env.npm_lifecycle_event === undefined) return;
  const starters = readStarters();
  const watch = setInterval(() => {
    if (readStarters() === starters) return;
    clearInterval(watch);
    if (firstAt === undefined) ask('npm is gone');
  }, watchEveryMs);
  watch.unref();
}

/** npm's process id, whether it runs this process itself or through a shell. Its change means that npm is gone. */
function readStarters(): string {
  const parent = String(process.ppid);
  try {
    // "pid (command) state ppid …"; the command may hold spaces and brackets.
    const stat = readFileSync(`/proc/${parent}/stat`, 'utf8');
    const command = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
    const grandparent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
    return ['sh', 'dash', 'bash', 'ash'].includes(command) ? `${parent} of ${grandparent}` : parent;
  } catch {
    return parent;
  }
}
