import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keepLog, keepSecrets } from './keep-for-log-check.ts';
import { waitUntil } from './wait-until.ts';

export interface SpawnedApp {
  readonly pid: number;
  /** Everything written to standard output and error so far. */
  readonly output: () => string;
  /** Resolves when the output contains the text. @throws {Error} after 20 s, or when the process ends. */
  readonly waitForOutput: (text: string) => Promise<void>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Exit code and signal, when the process has ended and its output is complete. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

/** Longest output kept; a process that writes more is at fault, and the start is what matters. */
const outputBytesMax = 4_000_000;
const outputTimeoutMs = 60_000;

/**
 * An app's real `src/main.ts` as a process of its own, as its container will run it, from source.
 * It gets PATH, HOME and the given variables, and nothing else of this environment.
 * @param root the app's folder, such as `new URL('..', import.meta.url)` in a test.
 */
export function spawnApp(root: URL, env: Readonly<Record<string, string>>): SpawnedApp {
  const child = spawn(
    process.execPath,
    ['--conditions=@lapse/source', '--import', 'tsx/esm', 'src/main.ts'],
    {
      cwd: fileURLToPath(root),
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let text = '';
  keepSecrets(env);
  const append = (chunk: string): void => {
    keepLog(`${basename(fileURLToPath(root))}-${child.pid}`, chunk);
    if (text.length < outputBytesMax) text += chunk;
  };
  child.stdout.setEncoding('utf8').on('data', append);
  child.stderr.setEncoding('utf8').on('data', append);
  let ended = false;
  const exited = once(child, 'close').then(([code, signal]) => {
    ended = true;
    return { code: code as number | null, signal: signal as NodeJS.Signals | null };
  });
  return {
    pid: child.pid ?? 0,
    output: () => text,
    waitForOutput: async (wanted) => {
      await waitUntil(() => text.includes(wanted) || ended, {
        what: `"${wanted}" in the output of ${root.pathname}`,
        timeoutMs: outputTimeoutMs,
      });
      if (!text.includes(wanted)) throw new Error(`The process ended without "${wanted}":\n${text}`);
    },
    kill: (signal) => {
      child.kill(signal);
    },
    exited,
  };
}
