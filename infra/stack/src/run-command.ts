import { explain } from './explain.ts';
import { onStop } from './on-stop.ts';
import { createPrinter, type Printer } from './print.ts';

export interface CommandTools {
  readonly print: Printer;
  /** Aborted by the first wish to stop. */
  readonly signal: AbortSignal;
  /** What the second wish to stop does before the process ends; the last one given counts. */
  readonly onKill: (kill: () => void) => void;
}

/** What a command came to. */
export interface CommandResult {
  /** The last line that is printed. */
  readonly line: string;
  readonly ok: boolean;
}

/** Stopped by a signal, as shells say it of SIGINT. */
const stoppedCode = 130;

/**
 * The frame of every command of the repository: Ctrl-C asks it to stop, a second one kills what it started, an error is
 * explained, and the process ends with the code that `main` resolves to, or whether it was well: 1 for an error, 130 when it
 * was stopped before it was done.
 * @param main where it prints its last line itself it calls `print.end()` before, if something may follow.
 */
export async function runCommand(
  main: (tools: CommandTools) => Promise<number | CommandResult>,
): Promise<never> {
  const print = createPrinter();
  const stop = new AbortController();
  let kill = (): void => {};
  onStop(
    (why) => {
      print.line(`stopping (${why})`);
      stop.abort();
    },
    () => {
      kill();
      process.exit(stoppedCode);
    },
  );
  const onKill = (wanted: () => void): void => {
    kill = wanted;
  };
  const result = await main({ print, signal: stop.signal, onKill }).catch((error: unknown) => {
    if (!stop.signal.aborted) print.line(`\n${explain(error)}`);
    return 1;
  });
  print.end();
  const code = typeof result === 'number' ? result : sayLast(print, result);
  process.exit(stop.signal.aborted && code !== 0 ? stoppedCode : code);
}

function sayLast(print: Printer, { line, ok }: CommandResult): number {
  print.line(line);
  return ok ? 0 : 1;
}
