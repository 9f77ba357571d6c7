import type { Tally } from '@lapse/sale-player';

/** On a terminal the line lives; in a pipe a line appears this often at most, and when something changed. */
const terminalEveryMs = 250;
const pipeEveryMs = 5_000;

/** Show what buyers have seen so far, until `stop` is called. */
export function showProgress(tally: Tally, startedAt: number): { stop(): void } {
  const terminal = process.stdout.isTTY === true;
  const counts = (): string => {
    const { orders, refused, paid, cancelled, lateRefunds } = tally.counts;
    return `orders ${orders}  sold out ${refused}  paid ${paid}  cancelled ${cancelled}  paid too late ${lateRefunds}`;
  };
  const line = (): string =>
    `${String(Math.round((Date.now() - startedAt) / 1000)).padStart(3)} s  ${counts()}`;
  let shown = '';
  const timer = setInterval(
    () => {
      if (terminal) process.stdout.write(`\r\x1b[K${line()}`);
      else if (counts() !== shown) process.stdout.write(`${line()}\n`);
      shown = counts();
    },
    terminal ? terminalEveryMs : pipeEveryMs,
  );
  return {
    stop() {
      clearInterval(timer);
      process.stdout.write(terminal ? `\r\x1b[K${line()}\n` : `${line()}\n`);
    },
  };
}
