import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { rootDir } from '@lapse/stack';

export interface Ran {
  readonly code: number;
  /** What a person sees of it. */
  readonly output: string;
}

const timeoutMs = 120_000;

/** The command `lapse` as a program of its own, on the settings of a world. A code other than 0 is an answer too. */
export function runLapse(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  const file = join(rootDir, 'apps', 'cli', 'dist', 'main.js');
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [file, ...args],
      { env, timeout: timeoutMs },
      (_error, stdout, stderr) =>
        resolve({ code: child.exitCode ?? -1, output: `${stdout}${stderr}`.trimEnd() }),
    );
  });
}
