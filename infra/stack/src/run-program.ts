import { type ChildProcess, spawn } from 'node:child_process';
import { giveWay } from './give-way.ts';

export interface ProgramResult {
  /** Null when a signal ended it; 127 when it could not be started. */
  readonly code: number | null;
  readonly output: string;
}

export interface ProgramOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** True: straight to this process's output, nothing kept. */
  readonly inherit?: boolean;
  /** True: it and whatever it starts take what others leave of the processors, and little beside them. */
  readonly givesWay?: boolean;
  /** Ends the program and whatever it started. */
  readonly signal?: AbortSignal;
}

/** More output than this is cut. The import rules' answer is read whole: about 2 kB a source file. */
const outputCharsMax = 32_000_000;
const killAfterMs = 5_000;

/** Run one program to its end, standard output and error together. Never rejects for its exit code. */
export function runProgram(
  command: string,
  args: readonly string[],
  { cwd, env, inherit = false, givesWay = false, signal }: ProgramOptions,
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: env ?? process.env,
      // Its own group, so that it can be ended whole.
      detached: true,
      stdio: inherit ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
    });
    if (givesWay && child.pid !== undefined) giveWay(child.pid);
    let output = '';
    const append = (chunk: string): void => {
      if (output.length < outputCharsMax) output += chunk;
    };
    child.stdout?.setEncoding('utf8').on('data', append);
    child.stderr?.setEncoding('utf8').on('data', append);
    const end = (): void => endGroup(child);
    signal?.addEventListener('abort', end, { once: true });
    child.once('error', (error) => resolve({ code: 127, output: error.message }));
    child.once('close', (code) => {
      signal?.removeEventListener('abort', end);
      resolve({ code, output });
    });
    if (signal?.aborted) end();
  });
}

function endGroup(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  kill(pid, 'SIGTERM');
  const timer = setTimeout(() => kill(pid, 'SIGKILL'), killAfterMs);
  child.once('exit', () => clearTimeout(timer));
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // Already gone.
  }
}
