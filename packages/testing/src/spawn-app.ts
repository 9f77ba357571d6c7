import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keepLog, keepSecrets } from './keep-for-log-check.ts';
import { nodeArgs } from './node-args.ts';
import { waitUntil } from './wait-until.ts';

export interface SpawnedApp {
  readonly pid: number;
  /** Everything written to standard output and error so far. */
  readonly output: () => string;
  /** Resolves when the output contains the text. @throws {Error} after 20 s, or when the process ends. */
  readonly waitForOutput: (text: string) => Promise<void>;
  readonly isAlive: () => boolean;
  readonly kill: (signal: NodeJS.Signals) => void;
  /**
   * Let it die when it passes this crash point from now on, instead of any before: see `crashPoint` of
   * `@lapse/runtime`. It must have been started with LAPSE_CRASH_AT.
   */
  readonly dieAt: (point: string) => Promise<void>;
  /** Exit code and signal, when the process has ended and its output is complete. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

/** The end of the output that is kept. */
const outputCharsMax = 4_000_000;
const outputTimeoutMs = 60_000;

const mains = {
  /** What is in the editor. */
  source: ['--conditions=@lapse/source', '--import', 'tsx/esm', 'src/main.ts'],
  /** What its container runs; starts in half the time, and wants a build. */
  compiled: [...nodeArgs, 'dist/main.js'],
};

/** `npm test` has built everything; whoever runs one file may have changed something since. */
const defaultMain = process.env.LAPSE_TEST_COMPILED === '1' ? 'compiled' : 'source';

/**
 * An app's real `main` as a process of its own. It gets PATH, HOME and the given variables, and nothing else of
 * this environment.
 * @param root the app's folder, such as `new URL('..', import.meta.url)` in a test.
 */
export function spawnApp(
  root: URL,
  env: Readonly<Record<string, string>>,
  main: keyof typeof mains = defaultMain,
): SpawnedApp {
  const child = spawn(process.execPath, mains[main], {
    cwd: fileURLToPath(root),
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let text = '';
  keepSecrets(env);
  const append = (chunk: string): void => {
    keepLog(`${basename(fileURLToPath(root))}-${child.pid}`, chunk);
    text = (text + chunk).slice(-outputCharsMax);
  };
  child.stdout?.setEncoding('utf8').on('data', append);
  child.stderr?.setEncoding('utf8').on('data', append);
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
    isAlive: () => !ended,
    kill: (signal) => {
      child.kill(signal);
    },
    dieAt: async (point) => {
      const heard = once(child, 'message');
      child.send(point);
      await heard;
    },
    exited,
  };
}
