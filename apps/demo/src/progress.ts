import type { Tally } from './tally.ts';

/** On a terminal the line lives; in a pipe a line appears only this often. */
const terminalEveryMs = 250;
const pipeEveryMs = 5_000;

/** Show what buyers have seen so far, until `stop` is called. */
export function showProgress(tally: Tally, startedAt: number): { stop(): void } {
  const terminal = process.stdout.isTTY === true;
  const line = (): string => {
    const { orders, refused, paid, cancelled, lateRefunds } = tally.counts;
    const seconds = String(Math.round((Date.now() - startedAt) / 1000)).padStart(3);
    return `${seconds} s  orders ${orders}  sold out ${refused}  paid ${paid}  cancelled ${cancelled}  paid too late ${lateRefunds}`;
  };
  const timer = setInterval(
    () => process.stdout.write(terminal ? `\r\x1b[K${line()}` : `${line()}\n`),
    terminal ? terminalEveryMs : pipeEveryMs,
  );
  return {
    stop() {
      clearInterval(timer);
      process.stdout.write(terminal ? `\r\x1b[K${line()}\n` : `${line()}\n`);
    },
  };
}
