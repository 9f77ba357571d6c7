import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { rootDir } from './folders.ts';

export interface ClientOptions {
  /** The app's name: its compiled main is run. */
  readonly app: string;
  readonly args: readonly string[];
  /** Beside this process's own environment. */
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/**
 * A program that is a client of the stack like any other: a process of its own, which shares this one's output and knows
 * of it what its environment says.
 * @returns its exit code; 1 when a signal ended it.
 */
export async function runClient({ app, args, env, signal }: ClientOptions): Promise<number> {
  const file = join(rootDir, 'apps', app, 'dist', 'main.js');
  const child = spawn(process.execPath, ['--enable-source-maps', file, ...args], {
    cwd: rootDir,
    // Its own group: it is told to stop once, by us.
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
  });
  const end = (): void => void child.kill('SIGTERM');
  signal.addEventListener('abort', end, { once: true });
  // A wish to stop that came before the process was there is no event any more.
  if (signal.aborted) end();
  const [code] = (await once(child, 'exit')) as [number | null];
  signal.removeEventListener('abort', end);
  return code ?? 1;
}
