import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The checker that comes with Prometheus, or undefined. Debian and Ubuntu: apt-get install prometheus. */
export function findPromtool(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, 'promtool')).find((file) => existsSync(file));
}

/** Run it. @returns its output, and whether it found nothing. */
export function runPromtool(
  promtool: string,
  args: readonly string[],
  input?: string,
): Promise<{ ok: boolean; output: string }> {
  return new Promise((resolve) => {
    const child = execFile(promtool, args, { timeout: 30_000 }, (error, stdout, stderr) =>
      resolve({ ok: error === null, output: stdout + stderr }),
    );
    child.stdin?.end(input);
  });
}
