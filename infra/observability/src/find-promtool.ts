import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Promtool works for 2 s on a machine of its own: one where fifteen others want the same core is not at fault. */
export const promtoolLimitMs = 180_000;

/** The checker that comes with Prometheus, or undefined. Debian and Ubuntu: apt-get install prometheus. */
export function findPromtool(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, 'promtool')).find((file) => existsSync(file));
}

export interface PromtoolOptions {
  /** What it reads on its standard input. */
  readonly input?: string;
  /** When it is ended, whatever it has said by then. */
  readonly limitMs?: number;
}

/** Run it. @returns its output, which says so where the limit of time ended it, and whether it found nothing. */
export function runPromtool(
  promtool: string,
  args: readonly string[],
  { input, limitMs = promtoolLimitMs }: PromtoolOptions = {},
): Promise<{ ok: boolean; output: string }> {
  return new Promise((resolve) => {
    const child = execFile(promtool, args, { timeout: limitMs }, (error, stdout, stderr) => {
      const ended = error?.killed ? `ended by its limit of ${limitMs} ms, before it had answered\n` : '';
      resolve({ ok: error === null, output: stdout + stderr + ended });
    });
    child.stdin?.end(input);
  });
}
