import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export interface RunningProgram {
  readonly child: ChildProcess;
  /** The next line it prints, or undefined when it has ended. */
  nextLine(): Promise<string | undefined>;
  /** SIGKILL, and wait: it gets no chance to clean up. */
  killHard(): Promise<void>;
}

/** Run a file of ./programs from its source, as a process of its own. */
export function runProgram(
  file: string,
  args: readonly string[],
  wrapper: readonly string[] = [],
): RunningProgram {
  const path = fileURLToPath(new URL(`./programs/${file}`, import.meta.url));
  const command = [...wrapper, process.execPath, '--import', 'tsx/esm', path, ...args];
  const child = spawn(command[0] ?? '', command.slice(1), {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const killHard = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  onTestFinished(killHard);
  return { child, nextLine: async () => (await lines.next()).value as string | undefined, killHard };
}
